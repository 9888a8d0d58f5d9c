/** A Prometheus on loopback that scrapes one target and evaluates rules every second, with functions for its HTTP API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Clock } from '../../src/platform/clock.ts';
import { freePorts } from '../kubernetes/harness/free-ports.ts';
import { Guard } from '../kubernetes/harness/guard.ts';
import { ManagedProcess } from '../kubernetes/harness/managed-process.ts';
import { untilAnswers } from '../kubernetes/harness/until-so.ts';

const STOP_MS = 5000;

export interface PrometheusOptions {
  readonly program: string;
  readonly clock: Clock;
  /** The local port of `/metrics`. */
  readonly targetPort: number;
  /** Labels that Prometheus adds to everything it scrapes. */
  readonly targetLabels: Readonly<Record<string, string>>;
  /** Rule groups as in the `spec` of a PrometheusRule. */
  readonly groups: readonly object[];
}

/** A rule as `/api/v1/rules` shows it. */
export interface RuleState {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly state: string;
}

export interface Target {
  readonly health: string;
  readonly lastError: string;
}

/** One series of an answer, with all its values. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [at: number, value: string])[];
}

export class RunningPrometheus {
  readonly #url: string;
  readonly #process: ManagedProcess;
  readonly #guard: Guard;
  readonly #directory: string;

  private constructor(url: string, process: ManagedProcess, guard: Guard, directory: string) {
    this.#url = url;
    this.#process = process;
    this.#guard = guard;
    this.#directory = directory;
  }

  /** Resolves when it is ready. */
  static async start({ program, clock, ...reads }: PrometheusOptions): Promise<RunningPrometheus> {
    const directory = mkdtempSync(join(tmpdir(), 'spindrift-prometheus-'));
    const { web } = await freePorts(['web']);
    writeFileSync(join(directory, 'rules.yaml'), stringify({ groups: reads.groups }));
    writeFileSync(join(directory, 'prometheus.yaml'), stringify(configuration(reads)));
    const guard = new Guard({ directory });
    const process = ManagedProcess.start({
      name: 'prometheus',
      command: program,
      arguments: [
        `--config.file=${join(directory, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=127.0.0.1:${web}`,
      ],
      logFile: join(directory, 'prometheus.log'),
      clock,
      guard,
      onFailure: () => undefined,
    });
    const url = `http://127.0.0.1:${web}`;
    const prometheus = new RunningPrometheus(url, process, guard, directory);
    try {
      await untilAnswers(clock, { failure: () => process.failure }, () => fetch(`${url}/-/ready`));
    } catch (error) {
      await prometheus.stop();
      throw error;
    }
    return prometheus;
  }

  async targets(): Promise<readonly Target[]> {
    return (await this.#get<{ activeTargets: Target[] }>('targets')).activeTargets;
  }

  /** Every rule of every group. */
  async rules(): Promise<readonly RuleState[]> {
    const { groups } = await this.#get<{ groups: { rules: RuleState[] }[] }>('rules');
    return groups.flatMap(({ rules }) => rules);
  }

  /** The values of an expression over the last seconds, second by second. Rejects if Prometheus rejects it. */
  async queryRange(query: string, seconds: number): Promise<readonly Series[]> {
    const end = Date.now() / 1000;
    const range = { query, start: String(end - seconds), end: String(end), step: '1' };
    return (await this.#get<{ result: Series[] }>('query_range', range)).result;
  }

  async stop(): Promise<void> {
    await this.#process.stop(STOP_MS);
    this.#guard.dismiss();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #get<T>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<T> {
    const answer = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, error, data } = (await answer.json()) as { status: string; error?: string; data: T };
    if (status !== 'success') throw new Error(`${path} ${JSON.stringify(parameters)}: ${error}`);
    return data;
  }
}

function configuration({ targetPort, targetLabels }: Omit<PrometheusOptions, 'program' | 'clock'>): object {
  return {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [
      {
        job_name: 'spindrift',
        static_configs: [{ targets: [`127.0.0.1:${targetPort}`], labels: targetLabels }],
      },
    ],
  };
}
