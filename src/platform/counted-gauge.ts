import type { MetricDefinition } from './metrics.ts';

/** Labels and value of one series. */
export type Series<Name extends string> = readonly [labels: Readonly<Record<Name, string>>, value: number];

/** Yields all series; `undefined` in between lets the caller yield to the event loop. */
export type Count<Name extends string> = () => Iterable<Series<Name> | undefined>;

/**
 * A gauge that is computed when it is scraped. A large cluster has tens of thousands of series: they are written line by line
 * and not kept.
 */
export class CountedGauge<Name extends string> {
  readonly #definition: MetricDefinition<Name>;
  readonly #count: Count<Name>;

  constructor(definition: MetricDefinition<Name>, count: Count<Name>) {
    this.#definition = definition;
    this.#count = count;
  }

  /** In the text format of Prometheus; a line may be empty while the next series is counted. */
  *lines(): Generator<string, void, undefined> {
    const { name, help } = this.#definition;
    yield `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} gauge\n`;
    for (const series of this.#count()) yield series === undefined ? '' : lineOf(name, series);
  }

  /** The value of the first series with these labels. */
  read(labels: Readonly<Record<string, string>>): number | undefined {
    const wanted = Object.entries(labels);
    for (const series of this.#count()) {
      const own: Readonly<Record<string, string>> | undefined = series?.[0];
      if (own !== undefined && wanted.every(([key, text]) => own[key] === text)) return series?.[1];
    }
    return undefined;
  }
}

function lineOf(name: string, [labels, value]: Series<string>): string {
  let text = '';
  for (const key in labels) text += `${text === '' ? '' : ','}${key}="${escaped(labels[key] as string)}"`;
  return `${name}${text === '' ? '' : `{${text}}`} ${valueText(value)}\n`;
}

const SPECIAL = /[\\"\n]/;

function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
