// Measures the page in this frame, and writes the results into the outer page.
{
    const root = document.documentElement;
    const style = getComputedStyle(document.body);
    // A colour of the style sheet, as `rgb(…)`.
    const colour = (name) => {
        const probe = document.createElement("i");
        probe.style.color = `var(${name})`;
        document.body.append(probe);
        const value = getComputedStyle(probe).color;
        probe.remove();
        return value;
    };
    const figure = (svg) => {
        const box = svg.getBoundingClientRect();
        const scale = box.width / svg.viewBox.baseVal.width;
        const texts = [...svg.querySelectorAll("text")];
        const isOutside = (text) => {
            const { left, right, top, bottom } = text.getBoundingClientRect();
            return left < box.left - 1 || right > box.right + 1 || top < box.top - 2 || bottom > box.bottom + 2;
        };
        return {
            width: box.width,
            height: box.height,
            title: svg.querySelector("title").textContent,
            marks: svg.querySelectorAll(".mark, .dots").length,
            outside: texts.filter(isOutside).map((text) => text.textContent),
            textSize: scale * Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize))),
        };
    };
    // Words that lie over one another within a figure.
    const overlaps = (svg) => {
        const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
        const found = [];
        boxes.forEach(([a, one], at) =>
            boxes.slice(at + 1).forEach(([b, other]) => {
                const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
                const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
                if (across > 1 && down > 4) found.push([a, b]);
            }),
        );
        return found;
    };
    const drawings = [...document.querySelectorAll("figure > svg")];
    const facts = {
        width: innerWidth,
        isDark: matchMedia("(prefers-color-scheme: dark)").matches,
        scrollWidth: root.scrollWidth,
        figures: drawings.map(figure),
        overlaps: drawings.flatMap(overlaps),
        loaded: performance.getEntriesByType("resource").length,
        page: style.backgroundColor,
        text: style.color,
        quiet: [colour("--quiet")],
        series: [0, 1, 2, 3, 4, 5, 6, 7].map((at) => colour(`--c${at}`)),
    };
    document.querySelectorAll("details").forEach((details) => (details.open = true));
    facts.scrollWidthOpen = root.scrollWidth;
    parent.document.body.dataset.facts = JSON.stringify(facts);
}
