/**
 * Metrics behind our own factory, so that no module holds a global registry and the library can be exchanged.
 * The same name returns the same metric: several queues share `workqueue_depth`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Count, CountedGauge } from './counted-gauge.ts';

export type Labels = Readonly<Record<string, string>>;

export interface MetricDefinition<Name extends string> {
  readonly name: string;
  /** What it counts, its unit, and how many series it can have. */
  readonly help: string;
  readonly labels?: readonly Name[];
}

/** A metric without its values. */
export interface MetricDescription {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly labels: readonly string[];
}

export interface CounterMetric<Name extends string> {
  add(labels: Readonly<Record<Name, string>>, amount?: number): void;
}

export interface GaugeMetric<Name extends string> {
  set(labels: Readonly<Record<Name, string>>, value: number): void;
  add(labels: Readonly<Record<Name, string>>, amount: number): void;
  remove(labels: Readonly<Record<Name, string>>): void;
}

export interface HistogramMetric<Name extends string> {
  observe(labels: Readonly<Record<Name, string>>, value: number): void;
}

/** From a millisecond to ten minutes, the range of our durations. */
const DURATION_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Yields to the event loop after working this long on the text. */
const TURN_MS = 5;
/** The approximate length of a chunk of the text. */
const PIECE_LENGTH = 16_384;
/** The number of lines between checks of the time. */
const LINES = 16;

export class Metrics {
  readonly #registry = new Registry();
  readonly #counted = new Map<string, CountedGauge<string>>();
  /** The computed gauges; the registry holds all other metrics. */
  readonly #countedDescriptions: MetricDescription[] = [];

  /** A counter. `initial` names the label values that are shown as 0 from the start, so that a rate has no gap. */
  counter<Name extends string = never>(
    definition: MetricDefinition<Name> & { readonly initial?: readonly Readonly<Record<Name, string>>[] },
  ): CounterMetric<Name> {
    const counter = this.#once(
      definition.name,
      () => new Counter({ ...this.#base(definition), registers: [this.#registry] }),
    );
    for (const labels of definition.initial ?? []) counter.inc(labels, 0);
    return { add: (labels, amount = 1) => counter.inc(labels, amount) };
  }

  gauge<Name extends string = never>(definition: MetricDefinition<Name>): GaugeMetric<Name> {
    const gauge = this.#once(
      definition.name,
      () => new Gauge({ ...this.#base(definition), registers: [this.#registry] }),
    );
    return {
      set: (labels, value) => gauge.set(labels, value),
      add: (labels, amount) => gauge.inc(labels, amount),
      remove: (labels) => gauge.remove(labels),
    };
  }

  /** A gauge that is computed when it is scraped, so that nothing has to update it. */
  counted<Name extends string = never>(definition: MetricDefinition<Name>, count: Count<Name>): void {
    const { name, help, labels = [] } = definition;
    if (this.#counted.has(name)) return;
    this.#counted.set(name, new CountedGauge(definition, count));
    this.#countedDescriptions.push({ name, type: 'gauge', help, labels });
  }

  histogram<Name extends string = never>(
    definition: MetricDefinition<Name> & { readonly buckets?: readonly number[] },
  ): HistogramMetric<Name> {
    const buckets = [...(definition.buckets ?? DURATION_BUCKETS)];
    const histogram = this.#once(
      definition.name,
      () => new Histogram({ ...this.#base(definition), buckets, registers: [this.#registry] }),
    );
    return { observe: (labels, value) => histogram.observe(labels, value) };
  }

  /** All metrics defined so far, by name. */
  descriptions(): MetricDescription[] {
    const registered = this.#registry.getMetricsAsArray().map((metric) => {
      // The types of the library lack the labels of a metric, and that its type is a string.
      const { name, help, type, labelNames = [] } = metric as unknown as MetricDescription & { labelNames?: string[] };
      return { name, help, type, labels: labelNames };
    });
    return [...registered, ...this.#countedDescriptions].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Adds metrics of the process: memory, CPU, garbage collection, event loop delay. */
  observeProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  /**
   * The text that Prometheus scrapes, in chunks, as it is long for a large cluster. Only one chunk is in memory, and the event
   * loop runs in between.
   */
  async *pieces(): AsyncGenerator<string, void, undefined> {
    let turnEnds = performance.now() + TURN_MS;
    const giveWay = async (): Promise<void> => {
      if (performance.now() < turnEnds) return;
      await nextTurn();
      turnEnds = performance.now() + TURN_MS;
    };
    for (const { name } of this.#registry.getMetricsAsArray()) {
      yield `${await this.#registry.getSingleMetricAsString(name)}\n`;
      await giveWay();
    }
    let piece = '';
    let lines = 0;
    for (const gauge of this.#counted.values()) {
      for (const line of gauge.lines()) {
        piece += line;
        if (piece.length >= PIECE_LENGTH) {
          yield piece;
          piece = '';
        }
        if (++lines % LINES === 0) await giveWay();
      }
    }
    yield piece;
  }

  /** The text that Prometheus scrapes. */
  async text(): Promise<string> {
    let text = '';
    for await (const piece of this.pieces()) text += piece;
    return text;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The value of one series of a counter or gauge; undefined when there is none. For tests. */
  async read(name: string, labels: Labels = {}): Promise<number | undefined> {
    const metric = this.#registry.getSingleMetric(name);
    if (metric === undefined) return this.#counted.get(name)?.read(labels);
    const { values } = await metric.get();
    return values.find((value) => Object.entries(labels).every(([key, text]) => value.labels[key] === text))?.value;
  }

  #once<M>(name: string, create: () => M): M {
    return (this.#registry.getSingleMetric(name) as M | undefined) ?? create();
  }

  #base<Name extends string>(definition: MetricDefinition<Name>): { name: string; help: string; labelNames: Name[] } {
    return { name: definition.name, help: definition.help, labelNames: [...(definition.labels ?? [])] };
  }
}
