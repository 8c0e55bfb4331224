"""The report on detectors: it has every number, escapes names, and loads nothing."""

import re

import pytest

import germane
from boxes_sets import make_boxes


def make_page(detectors, **options):
    truth, found = make_boxes(11, "floats, crowds")
    truth["categories"][0]["name"] = "<b>cat</b>"
    both = {name: found[::step] for name, step in detectors.items()}
    return germane.boxes.report(truth, both, **options), truth, both


@pytest.mark.parametrize("detectors", [{"yolo": 1}, {"yolo": 1, "detr <i>": 2}])
def test_the_page_has_every_number(detectors):
    page, truth, both = make_page(detectors)
    for name, found in both.items():
        result = germane.boxes.evaluate(truth, found, "AP AP50 AP(area=small) AR@100")
        assert all(f"{one.mean:.4f}" in page.html for one in result.values()), name
        for value in result["AP"].per_class.values():
            assert f"{value:.4f}" in page.html
    assert ("comparisons" in page.html) == (len(detectors) > 1)


def test_names_are_escaped_and_nothing_is_loaded():
    page, *_ = make_page({"yolo": 1, "detr <i>": 2})
    assert "<b>cat" not in page.html
    assert "&lt;b&gt;cat" in page.html
    assert "<i>" not in page.html
    assert not re.search(r'(src|href)="(?!#)', page.html)


def test_a_report_without_truths_says_so():
    truth, found = make_boxes(11)
    page = germane.boxes.report({**truth, "annotations": []}, {"a": found, "b": []}, "AP50")
    assert "–" in page.html


def test_intervals_stay_between_0_and_1():
    page, *_ = make_page({"yolo": 1})
    ends = re.findall(r"<small>(-?[\d.]+) – (-?[\d.]+)</small>", page.html)
    assert ends
    assert all(0 <= float(low) <= float(high) <= 1 for low, high in ends)


@pytest.mark.parametrize(
    ("images", "truths", "says"),
    [
        (1, 1, ["Fewer than 5 images tell too little about others for an interval."]),
        (4, 1, ["Fewer than 5 images tell too little about others for an interval."]),
        (5, 1, ["Below each number is its 95% interval"]),
        (5, 0, []),
    ],
)
def test_the_page_explains_intervals_where_there_are_some(images, truths, says):
    """And says why there are none only where images are few: no number is a reason of its own."""
    found = [{"boxes": [[10, 12, 50, 52]], "labels": [1], "scores": [0.9]}] * images
    truth = [{"boxes": [[10, 10, 50, 50]] * truths, "labels": [1] * truths}] * images
    page = germane.boxes.report(truth, {"yolo": found}, "AP50", unknown="ignore").html
    section = page.partition('id="result"')[2].partition("</section>")[0]
    assert [one.partition(", from")[0] for one in re.findall(r'"small">([^<]*)', section)] == says
    assert ("<small>" in page) == ("interval," in section)


def test_measures_without_a_value_are_reported_and_not_compared():
    truth, found = make_boxes(11)
    small = {**truth, "annotations": [{**one, "area": 100} for one in truth["annotations"]]}
    page = germane.boxes.report(small, {"a": found, "b": found[::2]}, "AP50 AP(area=large)").html
    assert "is ahead of b by" in page
    assert "–" in page


def test_the_page_shows_what_errors_cost():
    """A bar for each kind beside that of the other detector, and each number."""
    page, truth, both = make_page({"yolo": 1, "detr <i>": 2})
    for name, found in both.items():
        said = germane.boxes.explain(truth, found).errors
        assert all(f"<td>{said[kind].cost:.4f}</td>" in page.html for kind in said), name
    assert page.html.count('class="bar r1"') == 6
    assert "Costs of errors" in page.html


def test_the_page_has_the_findings():
    truth, found = make_boxes(11, "floats")
    flat = [{**one, "score": 0.5} for one in found]
    with pytest.warns(germane.GermaneWarning):
        page = germane.boxes.report(truth, {"yolo": flat}).html
    assert "detections have the score 0.5" in page


# --- Pictures: curves of classes, confusion, and photographs ------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Photographs of three images, one in a folder of the folder, and one cut off."""
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "val").mkdir()
    for name, size in (("a.jpg", (600, 300)), ("val/b.png", (40, 80)), ("c.jpg", (10, 10))):
        image.new("RGB", size, "teal").save(tmp_path / name)
    image.effect_noise((60, 30), 50).save(tmp_path / "d.jpg")
    (tmp_path / "d.jpg").write_bytes((tmp_path / "d.jpg").read_bytes()[:400])
    return tmp_path


SEEN = {
    "images": [{"id": i, "width": 600, "height": 300, "file_name": f"{i}.jpg"} for i in "abd"],
    "categories": [{"id": 1, "name": "<cat>"}, {"id": 2, "name": "dog"}],
    "annotations": [
        {"id": 1, "image_id": "a", "category_id": 1, "bbox": [100, 50, 200, 100], "area": 20000},
        {"id": 2, "image_id": "b", "category_id": 2, "bbox": [10, 10, 20, 20], "area": 400},
        {"id": 3, "image_id": "b", "category_id": 1, "bbox": [50, 50, 20, 20], "area": 400},
        {"id": 4, "image_id": "d", "category_id": 2, "bbox": [50, 50, 20, 20], "area": 400},
    ],
}
DOGS = [
    {"image_id": "a", "category_id": 2, "bbox": [100, 50, 200, 100], "score": 0.9},
    {"image_id": "b", "category_id": 2, "bbox": [10, 10, 20, 20], "score": 0.8},
]


def test_photographs_of_the_worst_images_are_in_the_page(folder):
    """Boxes have the scale of the thumbnail: 480 pixels for a width of 600."""
    found = {"yolo": DOGS, "detr": DOGS[1:], "third": DOGS, "fourth": DOGS}
    page = germane.boxes.report(SEEN, found, "AP50", images=folder).html
    assert "img-src data:" in page
    assert (
        len(re.findall(r'href="data:image/jpeg;base64,', page)) == 3
    )  # of a; b has a hit, which counts for more
    assert "those of the first 3 of 4 detectors" in page
    assert "d.jpg is no picture" in page.replace("<bdi>", "").replace("</bdi>", "")
    box = re.search(r'class="box false"[^>]*', page)
    assert box is not None
    numbers = [float(one) for one in re.findall(r'(?:x|y|width|height)="([\d.]+)"', box[0])]
    assert numbers[:4] == [16 + 80, 40 + 40, 160, 80]
    assert "&lt;cat&gt;" in page
    assert "<cat>" not in page
    [anchor] = set(re.findall(r'href="#(photo-0-0)"', page))  # from the confusion to its image
    assert f'id="{anchor}"' in page


def test_without_photographs_there_are_curves_and_confusions(folder):
    page, *_ = make_page({"yolo": 1, "detr <i>": 2})
    assert "data:" not in page.html
    for section in ("confusion", "class-curves"):
        assert f'<section id="{section}">' in page.html
    assert page.html.count('class="germane-confusion"') == 2
    turned = {**SEEN, "annotations": [{**SEEN["annotations"][0], "bbox": [200, 100, 200, 100, 90]}]}
    other = {"yolo": [{**DOGS[0], "bbox": [200, 100, 100, 200, 30]}]}
    drawn = germane.boxes.report(turned, other, "AP50", images=folder, overlap="probiou").html
    # 100 wide and 200 high around (200, 100), of 480 pixels for a width of 600
    assert 'class="box missed" d="M216.0 40.0L216.0 200.0L136.0 200.0L136.0 40.0Z"' in drawn
    (folder / "empty").mkdir()
    empty = germane.boxes.report(SEEN, {"yolo": DOGS}, "AP50", images=folder / "empty").html
    assert "is named like an image, such as 'a.jpg'." in empty
    with pytest.raises(germane.errors.NotFoundError, match="there is no folder or file 'nowhere'"):
        germane.boxes.report(SEEN, {"yolo": DOGS}, "AP50", images="nowhere")
    listed = germane.boxes.report(SEEN, {"yolo": DOGS}, "AP50", images=["a", "b", "d"]).html
    assert 'id="images"' not in listed


def test_images_that_raise_the_number_are_not_among_the_worst(folder):
    """The image a has a false detection, below the true one: without it, AP50 would be 0."""
    hit = {"image_id": "a", "category_id": 1, "bbox": [100, 50, 200, 100], "score": 0.9}
    found = {"yolo": [hit, {**hit, "bbox": [400, 200, 20, 20], "score": 0.1}]}
    costs = {
        row.image: row.cost for row in germane.boxes.explain(SEEN, found["yolo"]).rank_images()
    }
    assert costs["a"] < 0 < costs["b"]
    page = re.sub("</?bdi>", "", germane.boxes.report(SEEN, found, "AP50", images=folder).html)
    assert "the 2 images of 3 that take most from AP50" in page
    assert (
        "Shown: 2 of 2 images with errors that cost AP50; 1 more image with errors is left out,"
        " without which AP50 would be lower." in page
    )
    assert "<b>a</b>" not in page
    assert "<b>b</b>" in page
    none = re.sub("</?bdi>", "", germane.boxes.report(SEEN, {"y": []}, "AP50", images=folder).html)
    assert "Shown: 3 of 3 images with errors that cost AP50." in none  # which is 0 of each


def test_a_folder_of_photographs_changes_no_number(folder):
    """It has c.jpg, an image that the truth does not list, and a picture that is cut off."""
    (folder / "e.png").write_bytes(b"no picture")
    plain = germane.boxes.evaluate(SEEN, DOGS, "AP50")
    drawn = germane.boxes.evaluate(SEEN, DOGS, "AP50", images=folder)
    assert drawn.counts == plain.counts
    assert drawn.counts.images == 3
    assert drawn.to_dict(images=True) == plain.to_dict(images=True)
    listed = germane.boxes.evaluate(SEEN, DOGS, "AP50", images=["a", "b", "c", "d"])
    assert listed.counts.images == 4


def test_without_pillow_the_page_says_what_is_missing(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    page = germane.boxes.report(SEEN, {"yolo": DOGS}, "AP50", images=folder).html
    assert "Photographs need Pillow: pip install 'germane[plot]'." in page.replace("&#x27;", "'")
