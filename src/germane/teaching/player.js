// Shows one frame at a time. Each mark names the frames in which it is seen. Without this script the
// marks stay as they are written, which is the last frame.
(function () {
  "use strict";
  var home = document.currentScript.closest(".germane");
  var seconds = home.getAttribute("data-seconds").split(" ").map(Number);
  var end = seconds.length - 1;
  var alone = home === document.documentElement || home.tagName === "MAIN";
  var calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  var all = function (selector) {
    return Array.prototype.slice.call(home.querySelectorAll(selector));
  };
  var marks = all("[data-seen]").map(function (mark) {
    var seen = mark.getAttribute("data-seen").split(" ");
    return { mark: mark, first: +seen[0], last: seen[1] === undefined ? end : +seen[1] };
  });
  var slider = all("input")[0];
  var frame = end;
  var timer = null;

  function show(wanted) {
    frame = Math.max(0, Math.min(end, wanted));
    marks.forEach(function (each) {
      each.mark.classList.toggle("off", frame < each.first || frame > each.last);
    });
    all("[data-count]").forEach(function (count) {
      count.textContent = frame + " / " + end;
    });
    all("[data-live]").forEach(function (live) {
      live.textContent = words[frame];
    });
    all("[data-do=back], [data-do=start]").forEach(function (button) {
      button.setAttribute("aria-disabled", String(frame === 0));
    });
    all("[data-do=forward]").forEach(function (button) {
      button.setAttribute("aria-disabled", String(frame === end));
    });
    if (slider) {
      slider.value = frame;
      slider.setAttribute("aria-valuetext", words[frame]);
    }
  }

  function state(playing) {
    home.classList.toggle("playing", playing);
    all("[data-do=play]").forEach(function (button) {
      button.setAttribute("aria-label", playing ? "Pause" : "Play");
    });
    all("[data-live]").forEach(function (live) { // nobody can listen at the pace of a film
      live.setAttribute("aria-live", playing && frame < end ? "off" : "polite");
    });
  }

  function pause() {
    window.clearTimeout(timer);
    timer = null;
    state(false);
  }

  function next() {
    timer = window.setTimeout(function () {
      show(frame + 1);
      if (frame < end) next();
      else pause();
    }, seconds[frame] * 1000);
  }

  function play() {
    if (frame === end) show(0);
    state(true);
    next();
  }

  function fit() { // the sheet that the window has room for
    var small = window.innerWidth < 640;
    var box = home.getAttribute(small ? "data-narrow" : "data-wide");
    home.classList.toggle("small", small);
    home.setAttribute("viewBox", box);
    home.setAttribute("width", box.split(" ")[2]);
    home.setAttribute("height", box.split(" ")[3]);
  }

  var actions = {
    play: function () { if (timer === null) play(); else pause(); },
    start: function () { pause(); show(0); },
    back: function () { pause(); show(frame - 1); },
    forward: function () { pause(); show(frame + 1); },
    end: function () { pause(); show(end); }
  };
  var keys = {
    " ": "play", ArrowLeft: "back", ArrowRight: "forward", Home: "start", End: "end"
  };

  all("[data-do]").forEach(function (button) {
    button.addEventListener("click", function () { actions[button.getAttribute("data-do")](); });
  });
  if (slider) {
    slider.addEventListener("input", function () { pause(); show(+slider.value); });
  }
  (alone ? document : home).addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    var button = event.target.closest ? event.target.closest("[data-do]") : null;
    var press = button && (event.key === " " || event.key === "Enter");
    if (event.target.tagName === "SUMMARY") return; // these keys are its own
    if (event.target === slider && event.key !== " ") return;
    if (press && button.tagName === "BUTTON") return; // it clicks by itself
    var action = press ? button.getAttribute("data-do") : keys[event.key];
    if (!action) return;
    event.preventDefault();
    actions[action]();
  });

  var words = all("[data-words]").map(function (each) { return each.textContent; });
  var asked = /^#frame=(\d+)$/.exec(alone ? window.location.hash : "");
  home.classList.add("live");
  if (home.getAttribute("role") === "img") home.setAttribute("role", "group"); // it has buttons now
  if (alone && home.hasAttribute("data-narrow")) {
    window.addEventListener("resize", fit);
    fit();
  }
  pause();
  show(asked ? +asked[1] : calm ? end : 0);
  if (!asked && !calm) play();
})();
