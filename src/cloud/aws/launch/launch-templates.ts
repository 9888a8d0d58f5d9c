/**
 * Launch templates, named after what they hold: the same content is one template, whoever needs it. They are made when a launch
 * needs them and deleted when none has for a while, those of former processes included.
 */
import { createHash } from 'node:crypto';
import type { LaunchTemplate, RequestLaunchTemplateData } from '@aws-sdk/client-ec2';
import { AWS_GROUP, TAG_CLUSTER_NAME, TAG_NODE_CLASS } from '../../../apis/aws/labels.ts';
import type { Clock } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import { type AwsApi, allPages } from '../api/aws-api.ts';
import { awsCodeOf, isNotFound } from '../api/aws-error.ts';
import { type Tags, tagList } from './tags.ts';

const PREFIX = `${AWS_GROUP}/`;
const UNUSED_MS = 5 * 60_000;
const TIDY_MS = 60_000;
const HYDRATE_MS = 30 * 60_000;

interface Known {
  /** Resolves when EC2 has it. */
  readonly made: Promise<void>;
  usedAt: number;
}

export interface LaunchTemplatesOptions {
  readonly api: AwsApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cluster: string;
}

export class LaunchTemplates {
  readonly name = 'aws.launchtemplates';
  readonly #options: LaunchTemplatesOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: LaunchTemplatesOptions) {
    this.#options = options;
  }

  /** The name of the template with that content; it is made where it is not there. */
  async ensure(data: RequestLaunchTemplateData, tags: Tags, signal: AbortSignal): Promise<string> {
    const name = templateName(data, tags);
    const now = this.#options.clock.elapsed();
    const known = this.#known.get(name);
    const entry = known ?? { made: this.#create(name, data, tags, signal), usedAt: now };
    entry.usedAt = now;
    if (known === undefined) {
      this.#known.set(name, entry);
      entry.made.catch(() => this.#known.delete(name));
    }
    await entry.made;
    return name;
  }

  /** EC2 says that it has no such template: the next launch makes it again. */
  forget(names: Iterable<string>): void {
    for (const name of names) this.#known.delete(name);
  }

  /** Deletes what has not been used for a while, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let hydratedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      try {
        if (this.#options.clock.elapsed() - hydratedAt >= HYDRATE_MS) {
          await this.#hydrate(signal);
          hydratedAt = this.#options.clock.elapsed();
        }
        await this.#tidy(signal);
      } catch (error) {
        if (!signal.aborted) this.#options.logger.warn('launch templates not tidied', { error: asError(error) });
      }
      await this.#options.clock.sleep(TIDY_MS, signal).catch(() => undefined);
    }
  }

  /** Deletes the templates of a node class that goes. */
  async deleteOf(nodeClass: string, signal: AbortSignal): Promise<void> {
    for (const { LaunchTemplateName: name } of await this.#list(signal, nodeClass)) {
      if (name !== undefined) await this.#delete(name, signal);
    }
  }

  async #hydrate(signal: AbortSignal): Promise<void> {
    const usedAt = this.#options.clock.elapsed();
    for (const { LaunchTemplateName: name = '' } of await this.#list(signal)) {
      if (name.startsWith(PREFIX) && !this.#known.has(name)) this.#known.set(name, { made: Promise.resolve(), usedAt });
    }
  }

  async #tidy(signal: AbortSignal): Promise<void> {
    const before = this.#options.clock.elapsed() - UNUSED_MS;
    for (const [name, { usedAt }] of this.#known) {
      if (usedAt > before) continue;
      this.#known.delete(name);
      await this.#delete(name, signal);
    }
  }

  async #delete(name: string, signal: AbortSignal): Promise<void> {
    this.#known.delete(name);
    await this.#options.api.call('ec2:DeleteLaunchTemplate', { LaunchTemplateName: name }, signal).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
  }

  #list(signal: AbortSignal, nodeClass?: string): Promise<LaunchTemplate[]> {
    const Filters = [{ Name: `tag:${TAG_CLUSTER_NAME}`, Values: [this.#options.cluster] }];
    if (nodeClass !== undefined) Filters.push({ Name: `tag:${TAG_NODE_CLASS}`, Values: [nodeClass] });
    const input = { Filters, MaxResults: 200 };
    return allPages(this.#options.api, 'ec2:DescribeLaunchTemplates', input, (page) => page.LaunchTemplates, signal);
  }

  /** One that is there already holds the same: its name says so. */
  async #create(name: string, data: RequestLaunchTemplateData, tags: Tags, signal: AbortSignal): Promise<void> {
    const TagSpecifications = [{ ResourceType: 'launch-template' as const, Tags: tagList(tags) }];
    const input = { LaunchTemplateName: name, LaunchTemplateData: data, TagSpecifications };
    await this.#options.api.call('ec2:CreateLaunchTemplate', input, signal).catch((error) => {
      if (awsCodeOf(error) !== 'InvalidLaunchTemplateName.AlreadyExistsException') throw error;
    });
  }
}

function templateName(data: RequestLaunchTemplateData, tags: Tags): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([data, tagList(tags)]))
    .digest('hex');
  return `${PREFIX}${BigInt(`0x${digest.slice(0, 16)}`)}`;
}
