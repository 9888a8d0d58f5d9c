/** Keeps the accounts of the simulated cloud in step with the SimulatedNodeClasses of a cluster. */
import type { SimulatedNodeClass } from '../../apis/spindrift/simulated-node-class.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { asError } from '../../platform/errors.ts';
import type { NodeClassReadiness } from '../enabled-cloud.ts';
import { accountSettings, settingsProblem } from './node-class-settings.ts';
import { readInstanceTypes } from './read-instance-types.ts';
import { catalogueOf, HOME_REGION } from './regional-catalogue.ts';
import type { SimulatedCloud } from './simulated-cloud.ts';

export interface NodeClassAccountsOptions {
  readonly cloud: SimulatedCloud;
  /** Reads the catalogue that a node class names. */
  readonly readCatalogue?: (path: string) => readonly InstanceType[];
}

export class NodeClassAccounts {
  readonly #cloud: SimulatedCloud;
  readonly #readCatalogue: (path: string) => readonly InstanceType[];
  readonly #readiness = new Map<string, NodeClassReadiness>();
  /** The catalogue of each class and its source: the same array while the source is unchanged. */
  readonly #catalogues = new Map<string, { readonly source: string; readonly catalogue: readonly InstanceType[] }>();

  constructor(options: NodeClassAccountsOptions) {
    this.#cloud = options.cloud;
    this.#readCatalogue = options.readCatalogue ?? readInstanceTypes;
  }

  /** Opens or changes the account of a node class, if its settings are valid. */
  apply({ metadata: { name = '' }, spec }: SimulatedNodeClass): NodeClassReadiness {
    const readiness = this.#configure(name, spec);
    this.#readiness.set(name, readiness);
    return readiness;
  }

  /** Closes the account of a deleted node class: nothing more is launched. Its machines stay until they are deleted. */
  remove(name: string): void {
    this.#readiness.delete(name);
    this.#catalogues.delete(name);
  }

  /** Whether the account of a node class can be used. */
  readiness(name: string): NodeClassReadiness {
    const known = this.#readiness.get(name);
    return known ?? notReady('NodeClassNotFound', `there is no SimulatedNodeClass ${name}`);
  }

  #configure(name: string, spec: SimulatedNodeClass['spec']): NodeClassReadiness {
    let catalogue: readonly InstanceType[];
    try {
      catalogue = this.#catalogue(name, spec);
    } catch (error) {
      return notReady('CatalogUnreadable', asError(error).message);
    }
    const settings = accountSettings(spec, catalogue);
    const problem = settingsProblem(settings);
    if (problem !== undefined) return notReady(problem.reason, problem.message);
    this.#cloud.configure(name, settings);
    return { ready: true, reason: 'Ready', message: '' };
  }

  #catalogue(name: string, { catalogFile, regions }: SimulatedNodeClass['spec']): readonly InstanceType[] {
    const source = catalogFile ?? JSON.stringify(regions ?? '');
    const known = this.#catalogues.get(name);
    if (known?.source === source) return known.catalogue;
    const catalogue =
      catalogFile === undefined ? catalogueOf(regions ?? [HOME_REGION]) : this.#readCatalogue(catalogFile);
    this.#catalogues.set(name, { source, catalogue });
    return catalogue;
  }
}

function notReady(reason: string, message: string): NodeClassReadiness {
  return { ready: false, reason, message };
}
