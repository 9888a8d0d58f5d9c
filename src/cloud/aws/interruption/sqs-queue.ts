/** An SQS queue, through the official SDK, which is loaded only when a queue is opened. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { EpochMs } from '../../../platform/clock.ts';
import type { MessageQueue, QueueMessage, ReceiveOptions } from './message-queue.ts';
import { parseQueueAddress } from './queue-address.ts';
import { sqsError } from './sqs-error.ts';

type Sdk = typeof import('@aws-sdk/client-sqs');

export interface SqsQueueOptions {
  /** Name, URL or ARN. */
  readonly queue: string;
  /** Used if the queue's address names none; default: the SDK's own sources (AWS_REGION, profile). */
  readonly region?: string;
  /** Overrides the AWS endpoint, for tests. */
  readonly endpoint?: string;
}

/** A long poll takes 20 s; a connection silent for longer is dead. */
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5000;
/** Enough for concurrent receivers and deletes. */
const MOST_SOCKETS = 64;
/** SQS errors of a delete whose message is already gone. */
const GONE = new Set(['ReceiptHandleIsInvalid', 'InvalidParameterValue']);

export class SqsQueue implements MessageQueue {
  readonly name: string;
  readonly #sdk: Sdk;
  readonly #client: SQSClient;
  readonly #options: SqsQueueOptions;
  #url: string | undefined;

  private constructor(sdk: Sdk, options: SqsQueueOptions) {
    const address = parseQueueAddress(options.queue);
    const region = address.region ?? options.region;
    this.name = 'name' in address ? address.name : new URL(address.url).pathname.split('/').at(-1) || options.queue;
    this.#sdk = sdk;
    this.#options = options;
    this.#url = 'url' in address ? address.url : undefined;
    this.#client = new sdk.SQSClient({
      // Bodies are parsed without trust anyway, and checksums cost more than parsing.
      md5: false,
      maxAttempts: 2,
      requestHandler: {
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionTimeout: CONNECT_TIMEOUT_MS,
        httpAgent: { keepAlive: true, maxSockets: MOST_SOCKETS },
        httpsAgent: { keepAlive: true, maxSockets: MOST_SOCKETS },
      },
      ...(region !== undefined && { region }),
      ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    });
  }

  /** Loads the SDK; nothing is sent yet. */
  static async open(options: SqsQueueOptions): Promise<SqsQueue> {
    return new SqsQueue(await import('@aws-sdk/client-sqs'), options);
  }

  receive({ waitSeconds, visibilitySeconds, signal }: ReceiveOptions): Promise<readonly QueueMessage[]> {
    return this.#call('ReceiveMessage', signal, async (url) => {
      const command = new this.#sdk.ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['SentTimestamp'],
      });
      const { Messages = [] } = await this.#client.send(command, { abortSignal: signal });
      return Messages.flatMap(({ ReceiptHandle, Body = '', Attributes }) => {
        const sentAt = Number(Attributes?.SentTimestamp ?? Number.NaN) as EpochMs;
        return ReceiptHandle === undefined ? [] : [{ handle: ReceiptHandle, body: Body, sentAt }];
      });
    });
  }

  delete(handles: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    return this.#call('DeleteMessageBatch', signal, async (url) => {
      const Entries = handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
      const command = new this.#sdk.DeleteMessageBatchCommand({ QueueUrl: url, Entries });
      const { Failed = [] } = await this.#client.send(command, { abortSignal: signal });
      return Failed.filter(({ Code = '' }) => !GONE.has(Code)).flatMap(({ Id }) => handles[Number(Id)] ?? []);
    });
  }

  hide(handles: readonly string[], seconds: number, signal: AbortSignal): Promise<void> {
    return this.#call('ChangeMessageVisibilityBatch', signal, async (url) => {
      const Entries = handles.map((ReceiptHandle, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout: seconds,
      }));
      const command = new this.#sdk.ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries });
      await this.#client.send(command, { abortSignal: signal });
    });
  }

  /** Closes its connections. */
  close(): void {
    this.#client.destroy();
  }

  async #call<T>(operation: string, signal: AbortSignal, send: (url: string) => Promise<T>): Promise<T> {
    try {
      this.#url ??= await this.#findUrl(signal);
      return await send(this.#url);
    } catch (error) {
      signal.throwIfAborted();
      throw sqsError(error, operation, this.name);
    }
  }

  async #findUrl(signal: AbortSignal): Promise<string> {
    const address = parseQueueAddress(this.#options.queue);
    const account = 'account' in address ? { QueueOwnerAWSAccountId: address.account } : {};
    const command = new this.#sdk.GetQueueUrlCommand({ QueueName: this.name, ...account });
    const { QueueUrl = '' } = await this.#client.send(command, { abortSignal: signal });
    return QueueUrl;
  }
}
