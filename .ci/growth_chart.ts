/** What one size took. */
export interface GrowthPoint {
  /** Test cases. */
  readonly cases: number;
  /** Wall time of the whole command, start-up and run folder included. */
  readonly seconds: number;
  /** Processor time of the process, all threads. */
  readonly cpu_seconds: number;
  /** Largest resident memory of the process, MiB. */
  readonly peak_mib: number;
  /** Wall time of each stage by the name of its node, seconds. */
  readonly stages: { readonly [node: string]: number };
}

/** What `deno task growth` measures: one cell of the matrix over test splits of growing size. */
export interface Growth {
  readonly variant: string;
  readonly seed: number;
  readonly host: { readonly [fact: string]: string | number };
  /** Ascending by cases. */
  readonly points: readonly GrowthPoint[];
}

/** A line of a panel. `null` where there is no value. */
interface Line {
  readonly name: string;
  readonly colour: string;
  readonly dashed?: true;
  readonly values: readonly (number | null)[];
}

interface Panel {
  readonly title: string;
  readonly left: number;
  readonly lines: readonly Line[];
}

const [WIDTH, HEIGHT] = [840, 330] as const;
const [TOP, PLOT_WIDTH, PLOT_HEIGHT] = [48, 250, 232] as const;
/** Stages below this share of the largest size's time are left out. */
const SHOWN_SHARE = 0.02;
/** Pixels between the names at the ends of lines. */
const NAME_HEIGHT = 14;
/** Okabe and Ito's colours, which colour-blind readers can tell apart. */
const COLOURS = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"] as const;

/** Digits in groups of three. */
const grouped = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
const place = (value: number) => value.toFixed(1);

/** Whole decades around the values, as exponents. */
function decades(values: readonly number[]): readonly [number, number] {
  const logs = values.map(Math.log10);
  const low = Math.floor(Math.min(...logs));
  return [low, Math.max(low + 1, Math.ceil(Math.max(...logs)))];
}

function ticks([low, high]: readonly [number, number]): number[] {
  const steps = high - low > 2 ? [1] : [1, 2, 5];
  const all = [];
  for (let decade = low; decade <= high; decade++) all.push(...steps.map((step) => step * 10 ** decade));
  return all.filter((value) => value <= 10 ** high);
}

function text(content: string, { x, y, ...rest }: { x: number; y: number; [attribute: string]: unknown }) {
  const attributes = Object.entries(rest).map(([name, value]) => ` ${name}="${value}"`).join("");
  return `<text x="${place(x)}" y="${place(y)}"${attributes}>${content}</text>`;
}

/** Moves names apart that would cover each other; keeps their order. */
function apart(heights: readonly number[]): number[] {
  const order = heights.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y || a.i - b.i);
  for (let i = 1; i < order.length; i++) order[i]!.y = Math.max(order[i]!.y, order[i - 1]!.y + NAME_HEIGHT);
  const moved = [...heights];
  for (const { y, i } of order) moved[i] = y;
  return moved;
}

function panelSvg({ title, left, lines }: Panel, cases: readonly number[]): string[] {
  const given = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const [xs, ys] = [decades(cases), decades(given)];
  const x = (value: number) => left + (Math.log10(value) - xs[0]) / (xs[1] - xs[0]) * PLOT_WIDTH;
  const y = (value: number) => TOP + (ys[1] - Math.log10(value)) / (ys[1] - ys[0]) * PLOT_HEIGHT;
  const [right, bottom] = [left + PLOT_WIDTH, TOP + PLOT_HEIGHT];
  const svg = [text(title, { x: left, y: TOP - 18, "font-weight": "bold" })];
  for (const value of ticks(ys)) {
    const at = place(y(value));
    svg.push(
      `<path d="M${left} ${at}H${right}" stroke="#dddddd"/>`,
      text(grouped(value), { x: left - 6, y: y(value) + 4, "text-anchor": "end" }),
    );
  }
  for (const value of cases) {
    svg.push(
      `<path d="M${place(x(value))} ${bottom}v5" stroke="#000000"/>`,
      text(grouped(value), { x: x(value), y: bottom + 19, "text-anchor": "middle" }),
    );
  }
  svg.push(
    `<path d="M${left} ${TOP}V${bottom}H${right}" fill="none" stroke="#000000"/>`,
    text("test cases", { x: left + PLOT_WIDTH / 2, y: bottom + 38, "text-anchor": "middle" }),
  );
  const ends = apart(lines.map(({ values }) => y(values.at(-1) ?? 10 ** ys[0])));
  lines.forEach(({ name, colour, dashed, values }, l) => {
    const points = values.flatMap((value, i) => value === null ? [] : [[x(cases[i]!), y(value)] as const]);
    const path = points.map(([px, py], i) => `${i === 0 ? "M" : "L"}${place(px)} ${place(py)}`).join("");
    svg.push(
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"${
        dashed ? ' stroke-dasharray="4 3"' : ""
      }/>`,
      ...points.map(([px, py]) => `<circle cx="${place(px)}" cy="${place(py)}" r="3" fill="${colour}"/>`),
      text(name, { x: right + 8, y: ends[l]! + 4, fill: colour }),
    );
  });
  return svg;
}

/** Zero has no place on a logarithmic axis. */
const positive = (value: number | undefined) => value !== undefined && value > 0 ? value : null;

function stageLines(points: readonly GrowthPoint[]): Line[] {
  const last = points.at(-1)!;
  const nodes = Object.entries(last.stages).filter(([, seconds]) => seconds >= SHOWN_SHARE * last.seconds)
    .sort(([a, s], [b, t]) => t - s || (a < b ? -1 : 1)).map(([node]) => node).slice(0, COLOURS.length - 1);
  return nodes.map((node, i) => ({
    name: node,
    colour: COLOURS[i + 1]!,
    values: points.map(({ stages }) => positive(stages[node])),
  }));
}

/**
 * Time and memory over the number of test cases, both axes logarithmic, as a picture that needs nothing else. The same
 * measurement gives the same bytes.
 *
 * @param growth at least one point
 */
export function growthSvg({ variant, seed, points }: Growth): string {
  const cases = points.map((point) => point.cases);
  const time: Panel = {
    title: "wall time, seconds",
    left: 60,
    lines: [
      { name: "all", colour: COLOURS[0], values: points.map(({ seconds }) => positive(seconds)) },
      {
        name: "all, CPU",
        colour: COLOURS[0],
        dashed: true,
        values: points.map(({ cpu_seconds }) => positive(cpu_seconds)),
      },
      ...stageLines(points),
    ],
  };
  const memory: Panel = {
    title: "peak resident memory, MiB",
    left: 500,
    lines: [{ name: "process", colour: COLOURS[0], values: points.map((point) => positive(point.peak_mib)) }],
  };
  const told = points.map((point) =>
    `${point.cases} cases: ${point.seconds.toFixed(1)} s, ${point.peak_mib.toFixed(0)} MiB`
  ).join("; ");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" ` +
    `font-family="sans-serif" font-size="12" role="img">`,
    `<title>Time and memory over the number of test cases, ${variant}, seed ${seed}</title>`,
    `<desc>${told}</desc>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    ...panelSvg(time, cases),
    ...panelSvg(memory, cases),
    "</svg>",
    "",
  ].join("\n");
}
