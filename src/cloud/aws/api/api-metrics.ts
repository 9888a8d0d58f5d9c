import type { Metrics } from '../../../platform/metrics.ts';
import type { AwsOperation } from './aws-api.ts';

/** Counts calls to AWS, and how long they take with the retries of the SDK. */
export class ApiMetrics {
  readonly #calls;
  readonly #seconds;

  constructor(metrics: Metrics) {
    this.#calls = metrics.counter<'operation' | 'outcome'>({
      name: 'spindrift_aws_api_calls_total',
      help: 'Calls to AWS by IAM action and outcome (ok, failed); about 30 actions.',
      labels: ['operation', 'outcome'],
    });
    this.#seconds = metrics.histogram<'operation'>({
      name: 'spindrift_aws_api_call_duration_seconds',
      help: 'Duration of calls to AWS with the retries of the SDK, by IAM action; about 30 actions.',
      labels: ['operation'],
    });
  }

  /** Records a finished call. */
  called(operation: AwsOperation, outcome: 'ok' | 'failed', milliseconds: number): void {
    this.#calls.add({ operation, outcome });
    this.#seconds.observe({ operation }, milliseconds / 1000);
  }
}
