/**
 * Instance profiles created for the roles of node classes. The path of each contains the UID of its class, so that all profiles of a class
 * can be listed. Profiles that no node class and no claim uses are deleted.
 */
import type { InstanceProfile } from '@aws-sdk/client-iam';
import type { Ec2NodeClass } from '../../../apis/aws/ec2-node-class.ts';
import { LABEL_REGION } from '../../../apis/karpenter/labels.ts';
import { hashText } from '../../../apis/karpenter/structure-hash.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Random } from '../../../platform/random.ts';
import type { AwsApi } from '../api/aws-api.ts';
import { isNotFound } from '../api/aws-error.ts';
import { classTags, tagList } from '../launch/tags.ts';
import { CachedQuery } from '../selectors/cached-query.ts';

const KEPT_MS = 15 * 60_000;
/** A newer profile may be about to be used. */
const YOUNG_MS = 60 * 60_000;

export interface InstanceProfilesOptions {
  readonly api: AwsApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string;
  readonly cluster: string;
}

export class InstanceProfiles {
  readonly #options: InstanceProfilesOptions;
  readonly #ofClass: CachedQuery<string, readonly InstanceProfile[]>;

  constructor(options: InstanceProfilesOptions) {
    this.#options = options;
    this.#ofClass = new CachedQuery(options.clock, KEPT_MS, (path, signal) => this.#list(path, signal));
  }

  /** The profile with the role of the class: the one in its status if that still has the role, else an existing one, else a new one. */
  async ensure(nodeClass: Ec2NodeClass, signal: AbortSignal): Promise<string> {
    const role = roleOf(nodeClass);
    const known = await this.#ofClass.get(this.#pathOf(nodeClass), signal);
    const withRole = known.filter(({ Roles = [] }) => Roles.some(({ RoleName }) => RoleName === role));
    const current = nodeClass.status?.instanceProfile;
    const kept = withRole.find(({ InstanceProfileName: name }) => name === current) ?? withRole[0];
    if (kept?.InstanceProfileName !== undefined) return kept.InstanceProfileName;
    // In a cluster migrated from Karpenter the profile may have another path.
    if (current !== undefined && (await this.#roleOfProfile(current, signal)) === role) return current;
    return this.#create(nodeClass, role, signal);
  }

  /** The role of a profile; undefined if the profile does not exist or has no role. */
  async #roleOfProfile(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { InstanceProfile: profile } = await this.#options.api.call(
        'iam:GetInstanceProfile',
        { InstanceProfileName: name },
        signal,
      );
      return profile?.Roles?.[0]?.RoleName;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Whether a profile of that name exists. */
  async exists(name: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.api.call('iam:GetInstanceProfile', { InstanceProfileName: name }, signal);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Deletes the profiles of a class except the used ones. New ones stay too, unless the class is being deleted. */
  async deleteUnused(nodeClass: Ec2NodeClass, used: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const going = nodeClass.metadata.deletionTimestamp !== undefined;
    const now = this.#options.clock.now();
    for (const profile of await this.#list(this.#pathOf(nodeClass), signal)) {
      const { InstanceProfileName: name = '', CreateDate: made } = profile;
      const young = now - (made?.getTime() ?? 0) < YOUNG_MS;
      if (used.has(name) || (young && !going)) continue;
      await this.#delete(profile, signal);
    }
    this.#ofClass.clear();
  }

  async #create(nodeClass: Ec2NodeClass, role: string, signal: AbortSignal): Promise<string> {
    const { api, cluster, region, random } = this.#options;
    const { name: className = '' } = nodeClass.metadata;
    const unique = hashText(`${region}${className}${random.uuid()}`);
    const name = `${cluster}_${unique}`;
    const tags = { ...classTags(nodeClass, cluster), [LABEL_REGION]: region };
    const Tags = tagList(tags).map(({ Key = '', Value = '' }) => ({ Key, Value }));
    const input = { InstanceProfileName: name, Path: this.#pathOf(nodeClass), Tags };
    await api.call('iam:CreateInstanceProfile', input, signal);
    await api.call('iam:AddRoleToInstanceProfile', { InstanceProfileName: name, RoleName: role }, signal);
    this.#ofClass.clear();
    return name;
  }

  async #delete({ InstanceProfileName: name = '', Roles = [] }: InstanceProfile, signal: AbortSignal): Promise<void> {
    const { api } = this.#options;
    for (const { RoleName } of Roles) {
      await api
        .call('iam:RemoveRoleFromInstanceProfile', { InstanceProfileName: name, RoleName }, signal)
        .catch(ignoreGone);
    }
    await api.call('iam:DeleteInstanceProfile', { InstanceProfileName: name }, signal).catch(ignoreGone);
  }

  async #list(path: string, signal: AbortSignal): Promise<readonly InstanceProfile[]> {
    const found: InstanceProfile[] = [];
    let marker: string | undefined;
    do {
      const input = { PathPrefix: path, ...(marker === undefined ? {} : { Marker: marker }) };
      const page = await this.#options.api.call('iam:ListInstanceProfiles', input, signal);
      found.push(...(page.InstanceProfiles ?? []));
      marker = page.IsTruncated === true ? page.Marker : undefined;
    } while (marker !== undefined);
    return found;
  }

  #pathOf({ metadata }: Ec2NodeClass): string {
    const { region, cluster } = this.#options;
    return `/karpenter/${region}/${cluster}/${metadata.uid}/`;
  }
}

/** A role may be given with its path; IAM expects only its name. */
function roleOf({ spec }: Ec2NodeClass): string {
  return spec.role?.split('/').at(-1) ?? '';
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
