"""Thumbnails: small copies of images, written into the page, where Pillow is installed."""

import base64
import io
import os
import warnings

SIDE = 96  # pixels
PIXELS = 50_000_000  # of an image that is opened
BYTES = 50_000_000
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")


def make_thumbnail(path: str) -> str:
    """Make the address of a thumbnail that holds its data; "" for a file that is no image, or too
    large.
    """
    try:
        from PIL import Image
    except ImportError:
        return ""
    try:
        if os.path.getsize(path) > BYTES:
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # checked below
            image = Image.open(path, formats=FORMATS)
        with image:
            if image.width * image.height > PIXELS:
                return ""
            image.draft("RGB", (2 * SIDE, 2 * SIDE))
            small = image.convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return ""
    small.thumbnail((SIDE, SIDE))
    paper = Image.new("RGB", small.size, "white")
    paper.paste(small, mask=small.getchannel("A"))
    out = io.BytesIO()
    paper.save(out, "JPEG", quality=70, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"
