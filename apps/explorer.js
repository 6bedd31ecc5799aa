// Zoom, pan, clicks and saving for the Graphviz picture beside this component: the layout stays Graphviz's.
const NARROW = 600; // CSS pixels; below it a picture runs from top to bottom

export default function ({ parentElement, data, setTriggerValue, setStateValue }) {
  const box = parentElement.closest("[class*=st-key-drawn]");
  const bar = parentElement.querySelector(".explorer");
  const words = [data.closer, data.wider, data.whole];
  let svg = null;
  let whole = null;
  let shown = null;
  let from = null;
  let moved = false;
  let written = "";

  function show(view) {
    shown = view;
    open();
    written = `${view.x} ${view.y} ${view.width} ${view.height}`;
    svg.setAttribute("viewBox", written);
    svg.style.touchAction = view.width < whole.width ? "none" : "auto";
  }

  // Another picture may be drawn into the same element.
  function refresh() {
    attach();
    if (!svg || svg.getAttribute("viewBox") === written) return;
    const { x, y, width, height } = svg.viewBox.baseVal;
    whole = { x, y, width, height };
    show(whole);
  }

  function zoom(factor, cx = 0.5, cy = 0.5) {
    refresh();
    if (!svg) return;
    const width = Math.min(Math.max(shown.width * factor, whole.width / 12), whole.width * 1.5);
    const scale = width / shown.width;
    const height = shown.height * scale;
    show({
      x: shown.x + (shown.width - width) * cx,
      y: shown.y + (shown.height - height) * cy,
      width,
      height,
    });
  }

  function reset() {
    refresh();
    if (svg) show(whole);
  }

  function wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // the page goes on scrolling
    event.preventDefault();
    const at = svg.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, (event.clientX - at.x) / at.width, (event.clientY - at.y) / at.height);
  }

  function down(event) {
    if (event.button) return;
    refresh();
    from = { x: event.clientX, y: event.clientY, view: shown };
    moved = false;
  }

  function move(event) {
    if (!from || (event.pointerType === "touch" && shown.width >= whole.width)) return;
    const dx = event.clientX - from.x;
    const dy = event.clientY - from.y;
    if (!moved && Math.hypot(dx, dy) < 5) return;
    moved = true;
    const scale = from.view.width / svg.getBoundingClientRect().width;
    show({ ...from.view, x: from.view.x - dx * scale, y: from.view.y - dy * scale });
    svg.style.cursor = "grabbing";
  }

  function up() {
    from = null;
    if (svg) svg.style.cursor = "grab";
  }

  function click(event) {
    const part = event.target.closest("g.node, g.edge");
    if (!part || moved) return;
    const isFact = /^[fx]\d+$/.test(part.id);
    if (part.matches(".edge") && !isFact) return;
    if (isFact) part.classList.toggle("taken"); // a sign at once; the answer takes a second
    setTriggerValue("picked", isFact ? part.id : part.querySelector("title").textContent);
    if (!isFact) reveal();
  }

  // What is shown of a concept may stand below the window, and comes when the page has run.
  function reveal(tries = 100) {
    const facts = document.querySelector(".st-key-picked");
    if (facts?.checkVisibility()) facts.scrollIntoView({ block: "center", behavior: "smooth" });
    else if (tries) setTimeout(reveal, 100, tries - 1);
  }

  function press(event) {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    moved = false;
    click(event);
  }

  // What can be clicked is reached and told without a mouse.
  function open() {
    for (const part of svg.querySelectorAll("g.node, g.edge[id^=f], g.edge[id^=x]")) {
      part.setAttribute("tabindex", "0");
      part.setAttribute("role", "button");
      const said = [...part.querySelectorAll("text")].map((text) => text.textContent).join(" ");
      part.setAttribute("aria-label", said);
    }
    for (const image of box.querySelectorAll("[data-testid=stGraphVizChart], [data-testid=stGraphVizChart] [role=img]"))
      if (image.getAttribute("role") === "img") image.setAttribute("role", "group");
  }

  function saved(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function source() {
    refresh();
    const copy = svg.cloneNode(true);
    copy.removeAttribute("style");
    copy.setAttribute("viewBox", `${whole.x} ${whole.y} ${whole.width} ${whole.height}`);
    copy.setAttribute("width", whole.width);
    copy.setAttribute("height", whole.height);
    const sheet = document.createElementNS(svg.namespaceURI, "rect");
    const place = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
    for (const [name, value] of Object.entries(place)) sheet.setAttribute(name, value);
    sheet.setAttribute("fill", getComputedStyle(document.querySelector(".stApp")).backgroundColor);
    copy.prepend(sheet);
    return new XMLSerializer().serializeToString(copy);
  }

  function save(kind) {
    attach();
    if (!svg) return;
    const blob = new Blob([source()], { type: "image/svg+xml" });
    if (kind === "SVG") {
      saved(blob, "evidence.svg");
      return;
    }
    const picture = new Image();
    const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source())}`;
    picture.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * whole.width;
      canvas.height = 2 * whole.height;
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((made) => saved(made, "evidence.png"));
    };
    picture.src = url;
  }

  function attach() {
    const found = box?.querySelector("[data-testid=stGraphVizChart] svg");
    if (!found || found === svg) return;
    svg = found;
    written = "";
    refresh();
    svg.style.cursor = "grab";
    svg.style.userSelect = "none";
    svg.addEventListener("wheel", wheel, { passive: false });
    svg.addEventListener("pointerdown", down);
    svg.addEventListener("click", click);
    svg.addEventListener("keydown", press);
  }

  bar.replaceChildren(
    ...["+", "−", "⟲"].map((sign, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = sign;
      button.title = words[number];
      button.setAttribute("aria-label", words[number]);
      button.onclick = () => (number === 2 ? reset() : zoom(number ? 1.3 : 1 / 1.3));
      return button;
    }),
    ...["PNG", "SVG"].map((kind) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind;
      button.title = `${data.save} ${kind}`;
      button.setAttribute("aria-label", `${data.save} ${kind}`);
      button.onclick = () => save(kind);
      return button;
    }),
    Object.assign(document.createElement("span"), { textContent: data.hint }),
  );
  const watcher = new MutationObserver(attach);
  if (box) watcher.observe(box, { childList: true, subtree: true });
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", up);
  const narrow = box?.clientWidth ? box.clientWidth < NARROW : data.narrow;
  if (narrow !== data.narrow) setStateValue("narrow", narrow); // the page runs again
  attach();
  return () => {
    watcher.disconnect();
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", up);
    svg?.removeEventListener("wheel", wheel);
    svg?.removeEventListener("pointerdown", down);
    svg?.removeEventListener("click", click);
    svg?.removeEventListener("keydown", press);
  };
}
