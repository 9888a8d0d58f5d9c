/** The AWS calls for setting up and checking a queue. The SDKs are loaded only here. */
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { asError, SpindriftError } from '../../../platform/errors.ts';

export interface AwsAccountOptions {
  /** The SDK's own sources (AWS_REGION, profile) when absent. */
  readonly region?: string;
  readonly endpoint?: string;
}

type SqsSdk = typeof import('@aws-sdk/client-sqs');
type EventsSdk = typeof import('@aws-sdk/client-eventbridge');

export interface FoundRule {
  readonly pattern: unknown;
  readonly isEnabled: boolean;
  /** ARNs of its targets, by their IDs. */
  readonly targets: ReadonlyMap<string, string>;
}

export interface FoundQueue {
  readonly url: string;
  readonly arn: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

export class AwsAccount {
  readonly #sqs: SqsSdk;
  readonly #events: EventsSdk;
  readonly #sqsClient: SQSClient;
  readonly #eventsClient: EventBridgeClient;

  private constructor(sqs: SqsSdk, events: EventsSdk, options: AwsAccountOptions) {
    this.#sqs = sqs;
    this.#events = events;
    this.#sqsClient = new sqs.SQSClient(options);
    this.#eventsClient = new events.EventBridgeClient(options);
  }

  /** CLOUD_NOT_CONFIGURED if neither the options nor the SDK's own sources name a region. */
  static async open(options: AwsAccountOptions): Promise<AwsAccount> {
    const [sqs, events] = await Promise.all([import('@aws-sdk/client-sqs'), import('@aws-sdk/client-eventbridge')]);
    const account = new AwsAccount(sqs, events, options);
    try {
      await account.#sqsClient.config.region();
    } catch (cause) {
      const problem = 'no region is known: set AWS_REGION or pass --region';
      throw new SpindriftError('CLOUD_NOT_CONFIGURED', { cloud: 'aws', problem }, { cause });
    }
    return account;
  }

  /** The queue of that name; undefined if there is none. */
  findQueue(name: string): Promise<FoundQueue | undefined> {
    return this.#call('sqs:GetQueueUrl', async () => {
      const { QueueUrl = '' } = await this.#sqsClient.send(new this.#sqs.GetQueueUrlCommand({ QueueName: name }));
      const all = new this.#sqs.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
      const { Attributes = {} } = await this.#sqsClient.send(all);
      const { Tags = {} } = await this.#sqsClient.send(new this.#sqs.ListQueueTagsCommand({ QueueUrl }));
      return { url: QueueUrl, arn: Attributes.QueueArn ?? '', attributes: Attributes, tags: Tags };
    });
  }

  async createQueue(name: string, attributes: Record<string, string>, tags: Record<string, string>): Promise<void> {
    await this.#call('sqs:CreateQueue', () =>
      this.#sqsClient.send(new this.#sqs.CreateQueueCommand({ QueueName: name, Attributes: attributes, tags })),
    );
  }

  async setAttributes(url: string, attributes: Record<string, string>): Promise<void> {
    await this.#call('sqs:SetQueueAttributes', () =>
      this.#sqsClient.send(new this.#sqs.SetQueueAttributesCommand({ QueueUrl: url, Attributes: attributes })),
    );
  }

  async deleteQueue(url: string): Promise<void> {
    await this.#call('sqs:DeleteQueue', () =>
      this.#sqsClient.send(new this.#sqs.DeleteQueueCommand({ QueueUrl: url })),
    );
  }

  /** The rule of that name on the default bus; undefined if there is none. */
  findRule(name: string): Promise<FoundRule | undefined> {
    return this.#call('events:DescribeRule', async () => {
      const rule = await this.#eventsClient.send(new this.#events.DescribeRuleCommand({ Name: name }));
      const { Targets = [] } = await this.#eventsClient.send(new this.#events.ListTargetsByRuleCommand({ Rule: name }));
      const targets = new Map(Targets.map(({ Id = '', Arn = '' }) => [Id, Arn]));
      return { pattern: JSON.parse(rule.EventPattern ?? '{}'), isEnabled: rule.State !== 'DISABLED', targets };
    });
  }

  async putRule(name: string, description: string, pattern: object, tags?: Record<string, string>): Promise<void> {
    await this.#call('events:PutRule', () =>
      this.#eventsClient.send(
        new this.#events.PutRuleCommand({
          Name: name,
          Description: description,
          EventPattern: JSON.stringify(pattern),
          State: 'ENABLED',
          ...(tags && { Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) }),
        }),
      ),
    );
  }

  async putTarget(rule: string, id: string, arn: string): Promise<void> {
    await this.#call('events:PutTargets', async () => {
      const command = new this.#events.PutTargetsCommand({ Rule: rule, Targets: [{ Id: id, Arn: arn }] });
      const { FailedEntries = [] } = await this.#eventsClient.send(command);
      const [failed] = FailedEntries;
      if (failed !== undefined) throw new Error(`${failed.ErrorCode}: ${failed.ErrorMessage}`);
    });
  }

  async removeTarget(rule: string, id: string): Promise<void> {
    await this.#call('events:RemoveTargets', () =>
      this.#eventsClient.send(new this.#events.RemoveTargetsCommand({ Rule: rule, Ids: [id] })),
    );
  }

  async deleteRule(name: string): Promise<void> {
    await this.#call('events:DeleteRule', () =>
      this.#eventsClient.send(new this.#events.DeleteRuleCommand({ Name: name })),
    );
  }

  async putEvent(source: string, type: string, detail: object): Promise<void> {
    await this.#call('events:PutEvents', async () => {
      const Entries = [{ Source: source, DetailType: type, Detail: JSON.stringify(detail) }];
      const { Entries: put = [] } = await this.#eventsClient.send(new this.#events.PutEventsCommand({ Entries }));
      const failed = put.find(({ ErrorCode }) => ErrorCode !== undefined);
      if (failed !== undefined) throw new Error(`${failed.ErrorCode}: ${failed.ErrorMessage}`);
    });
  }

  close(): void {
    this.#sqsClient.destroy();
    this.#eventsClient.destroy();
  }

  /** Undefined if the resource does not exist; any other failure becomes an error that names the required permission. */
  async #call<T>(operation: string, send: () => Promise<T>): Promise<T | undefined> {
    try {
      return await send();
    } catch (error) {
      const cause = asError(error);
      if (/NonExistentQueue|QueueDoesNotExist|ResourceNotFound/.test(cause.name)) return undefined;
      const problem = `${cause.name}: ${cause.message}`.slice(0, 400);
      const code = /AccessDenied|Unauthorized|NotAuthorized|InvalidClientTokenId/.test(cause.name)
        ? 'CLOUD_DENIED'
        : 'CLOUD_UNAVAILABLE';
      throw new SpindriftError(code, { operation, problem }, { cause });
    }
  }
}
