/** The images that node classes select. */
import type { DescribeImagesCommandInput, Image } from '@aws-sdk/client-ec2';
import {
  type AmiAlias,
  type AmiStatus,
  type AmiTerm,
  aliasOf,
  type Ec2NodeClassSpec,
} from '../../../apis/aws/ec2-node-class.ts';
import { LABEL_ARCH } from '../../../apis/karpenter/labels.ts';
import type { Labels } from '../../../engine/problem.ts';
import { type Clock, parseTimestamp } from '../../../platform/clock.ts';
import { type AwsApi, allPages } from '../api/aws-api.ts';
import { isNotFound } from '../api/aws-error.ts';
import { CachedQuery } from './cached-query.ts';
import { imageParameters } from './image-parameters.ts';
import { tagFilters } from './tag-filters.ts';

const KEPT_MS = 5 * 60_000;
/** The meaning of `latest` changes about once a week; that of a version does not. */
const PARAMETER_KEPT_MS = 30 * 60_000;

interface Candidate extends AmiStatus {
  readonly createdAt: number;
}

interface Question {
  readonly terms: Ec2NodeClassSpec['amiSelectorTerms'];
  readonly kubernetes: string;
}

export class Images {
  readonly #api: AwsApi;
  readonly #query: CachedQuery<Question, readonly AmiStatus[]>;
  readonly #parameters: CachedQuery<string, string | undefined>;
  readonly #now: () => number;

  constructor(api: AwsApi, clock: Clock) {
    this.#api = api;
    this.#now = () => clock.now();
    this.#query = new CachedQuery(clock, KEPT_MS, (question, signal) => this.#ask(question, signal));
    this.#parameters = new CachedQuery(clock, PARAMETER_KEPT_MS, (name, signal) => this.#parameter(name, signal));
  }

  /** The images that any term selects for a version of Kubernetes: deprecated ones last, newest first. */
  select(spec: Ec2NodeClassSpec, kubernetes: string, signal: AbortSignal): Promise<readonly AmiStatus[]> {
    return this.#query.get({ terms: spec.amiSelectorTerms, kubernetes }, signal);
  }

  async #ask({ terms, kubernetes }: Question, signal: AbortSignal): Promise<readonly AmiStatus[]> {
    const alias = aliasOf({ amiSelectorTerms: terms } as Ec2NodeClassSpec);
    const found =
      alias === undefined
        ? (await Promise.all(terms.map((term) => this.#ofTerm(term, signal)))).flat()
        : await this.#ofAlias(alias, kubernetes, signal);
    return bestOfEach(found);
  }

  async #ofAlias(alias: AmiAlias, kubernetes: string, signal: AbortSignal): Promise<Candidate[]> {
    const parameters = imageParameters(alias, kubernetes);
    const values = await Promise.all(parameters.map(({ name }) => this.#parameters.get(name, signal)));
    const ids = [...new Set(values.filter((id) => id !== undefined))];
    const images = new Map((await this.#describe({ ImageIds: ids }, signal)).map((image) => [image.ImageId, image]));
    return parameters.flatMap(({ requirements }, index) => {
      const image = images.get(values[index]);
      const candidate = image === undefined ? undefined : this.#candidate(image);
      return candidate === undefined ? [] : [{ ...candidate, requirements }];
    });
  }

  async #ofTerm(term: AmiTerm, signal: AbortSignal): Promise<Candidate[]> {
    const images = await this.#describeTerm(term, signal);
    return images.flatMap((image) => this.#candidate(image) ?? []);
  }

  async #describeTerm(
    { id, ssmParameter, name, owner, tags }: AmiTerm,
    signal: AbortSignal,
  ): Promise<readonly Image[]> {
    if (id !== undefined) return this.#describe({ ImageIds: [id] }, signal);
    if (ssmParameter !== undefined) {
      const value = await this.#parameters.get(ssmParameter, signal, KEPT_MS);
      return value === undefined ? [] : this.#describe({ ImageIds: [value] }, signal);
    }
    const Filters = [...(name === undefined ? [] : [{ Name: 'name', Values: [name] }]), ...tagFilters(tags)];
    const Owners = owner !== undefined ? [owner] : name === undefined ? undefined : ['self', 'amazon'];
    return this.#describe({ Filters, ...(Owners === undefined ? {} : { Owners }), MaxResults: 1000 }, signal);
  }

  async #describe(input: DescribeImagesCommandInput, signal: AbortSignal): Promise<readonly Image[]> {
    const { ImageIds: ids, Filters = [] } = input;
    if (ids?.length === 0) return [];
    // IDs are queried by filter too: a missing image is then an empty answer instead of an error.
    const ofIds = ids === undefined ? [] : [{ Name: 'image-id', Values: ids }];
    const filters = [...Filters, ...ofIds, { Name: 'state', Values: ['available'] }];
    const { ImageIds: _, ...rest } = input;
    const asked = { ...rest, Filters: filters, IncludeDeprecated: true };
    return allPages(this.#api, 'ec2:DescribeImages', asked, (page) => page.Images, signal);
  }

  async #parameter(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { Parameter: parameter } = await this.#api.call('ssm:GetParameter', { Name: name }, signal);
      return parameter?.Value?.startsWith('ami-') === true ? parameter.Value : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #candidate({
    ImageId: id,
    Name: name,
    Architecture: arch,
    CreationDate: created,
    DeprecationTime: ends,
  }: Image): Candidate | undefined {
    const value = arch === 'x86_64' ? 'amd64' : arch === 'arm64' ? 'arm64' : undefined;
    if (id === undefined || value === undefined) return undefined;
    const deprecated = (parseTimestamp(ends) ?? Number.POSITIVE_INFINITY) <= this.#now();
    return {
      id,
      ...(name === undefined ? {} : { name }),
      ...(deprecated ? { deprecated } : {}),
      requirements: [{ key: LABEL_ARCH, operator: 'In', values: [value] }],
      createdAt: parseTimestamp(created) ?? 0,
    };
  }
}

/** The best image per kind of machine: not deprecated, then the newest, then by name. */
function bestOfEach(candidates: readonly Candidate[]): readonly AmiStatus[] {
  const sorted = [...candidates].sort(
    (a, b) =>
      Number(a.deprecated ?? false) - Number(b.deprecated ?? false) ||
      b.createdAt - a.createdAt ||
      ((a.name ?? a.id) < (b.name ?? b.id) ? -1 : 1),
  );
  const best = new Map<string, AmiStatus>();
  for (const { createdAt: _, ...image } of sorted) {
    const key = JSON.stringify(image.requirements);
    if (!best.has(key)) best.set(key, image);
  }
  return [...best.values()];
}

/** The image for machines with these labels; undefined if there is none. */
export function imageFor(images: readonly AmiStatus[], labels: Labels): AmiStatus | undefined {
  return images.find(({ requirements }) =>
    requirements.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'In') return value !== undefined && values.includes(value);
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return (operator === 'Exists') === (value !== undefined);
    }),
  );
}
