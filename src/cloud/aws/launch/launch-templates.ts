/**
 * Launch templates, named after a hash of their content, so that equal templates are shared. They are created when a launch needs them, and
 * deleted after a time without use, including those of earlier processes.
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
  /** Resolves when the template exists in EC2. */
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

  /** The name of the template with that content. It is created if it does not exist. */
  async ensure(data: RequestLaunchTemplateData, tags: Tags, signal: AbortSignal): Promise<string> {
    const name = templateName(data, tags);
    const now = this.#options.clock.elapsed();
    const known = this.#known.get(name);
    const entry = known ?? { made: this.#create(name, data, tags, signal), usedAt: now };
    entry.usedAt = now;
    if (known === undefined) {
      this.#known.set(name, entry);
      entry.made.catch(() => this.#known.get(name) === entry && this.#known.delete(name));
    }
    await entry.made;
    return name;
  }

  /** EC2 has no such templates: the next launch creates them again. */
  forget(names: Iterable<string>): void {
    for (const name of names) this.#known.delete(name);
  }

  /** Deletes unused templates until the signal aborts. */
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

  /** Deletes the templates of a node class that is being deleted. */
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

  /** An existing template has the same content, because its name is a hash of it. */
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
