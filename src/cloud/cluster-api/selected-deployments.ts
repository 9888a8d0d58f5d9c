/** The MachineDeployments of each node class, described, and the market that they make; the same while nothing changes. */
import type { ClusterApiNodeClass } from '../../apis/cluster-api/cluster-api-node-class.ts';
import type { MachineDeployment } from '../../apis/cluster-api/machine-deployment.ts';
import { referred } from '../../apis/cluster-api/reference.ts';
import { compileLabelSelector } from '../../apis/kubernetes/label-selector.ts';
import { asError } from '../../platform/errors.ts';
import { type DescribedDeployment, describeDeployment, type InfrastructureTemplate } from './describe-deployment.ts';
import type { InfrastructureObjects } from './infrastructure-objects.ts';
import { type DeploymentMarket, deploymentMarket } from './instance-types.ts';
import type { FindShape } from './known-shapes.ts';
import type { ManagementCluster } from './management-cluster.ts';

export interface SelectedDeploymentsOptions {
  readonly management: ManagementCluster;
  readonly infrastructure: InfrastructureObjects;
  readonly findShape: FindShape;
}

interface Described {
  readonly template: object | undefined;
  readonly described: DescribedDeployment;
}

interface KnownMarket {
  readonly text: string;
  readonly market: DeploymentMarket;
}

export class SelectedDeployments {
  readonly #options: SelectedDeploymentsOptions;
  readonly #markets = new Map<string, KnownMarket>();
  /** Descriptions by the object that they were made from: an object that has not changed is not described again. */
  readonly #described = new WeakMap<MachineDeployment, Described>();

  constructor(options: SelectedDeploymentsOptions) {
    this.#options = options;
  }

  /**
   * All MachineDeployments that a node class selects, usable or not. One kind of template that cannot be read does not hide
   * MachineDeployments with templates of another.
   */
  async of(nodeClass: ClusterApiNodeClass, signal: AbortSignal): Promise<readonly DescribedDeployment[]> {
    const selector = compileLabelSelector(nodeClass.spec.scalableResourceSelector);
    const selected = (await this.#options.management.deployments(signal)).filter(({ metadata }) =>
      selector.matches(metadata.labels),
    );
    const failures: unknown[] = [];
    const described = await Promise.all(
      selected.map((deployment) =>
        this.describe(deployment, signal).catch((error) => {
          failures.push(error);
          return this.#withoutTemplate(deployment, error);
        }),
      ),
    );
    if (failures.length > 0 && (failures.length === selected.length || signal.aborted)) throw failures[0];
    return described.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** As it was when its template could be read; else nothing is launched from it, and it says why. */
  #withoutTemplate(deployment: MachineDeployment, error: unknown): DescribedDeployment {
    const known = this.#described.get(deployment)?.described;
    const problem = `its infrastructure template cannot be read: ${asError(error).message}`;
    return known ?? { ...describeDeployment(deployment, undefined, this.#options.findShape), problem };
  }

  /** One MachineDeployment with what its template says. */
  async describe(deployment: MachineDeployment, signal: AbortSignal): Promise<DescribedDeployment> {
    const { infrastructure, findShape } = this.#options;
    const reference = referred(deployment.spec?.template?.spec?.infrastructureRef);
    const namespace = deployment.metadata.namespace ?? '';
    const template = reference === undefined ? undefined : await infrastructure.recent(reference, namespace, signal);
    const known = this.#described.get(deployment);
    if (known !== undefined && known.template === template) return known.described;
    const described = describeDeployment(deployment, template as InfrastructureTemplate | undefined, findShape);
    this.#described.set(deployment, { template, described });
    return described;
  }

  /** The MachineDeployment of a key, described; undefined when it is gone. */
  async ofKey(key: string, signal: AbortSignal): Promise<DescribedDeployment | undefined> {
    const deployment = await this.#options.management.deployment(key, signal);
    return deployment === undefined ? undefined : this.describe(deployment, signal);
  }

  /** The market of a node class. Replicas come and go; as long as nothing else changes it is the same object. */
  async market(nodeClass: ClusterApiNodeClass, signal: AbortSignal): Promise<DeploymentMarket> {
    const market = deploymentMarket(await this.of(nodeClass, signal));
    const text = JSON.stringify(market.instanceTypes);
    const name = nodeClass.metadata.name ?? '';
    const known = this.#markets.get(name);
    if (known?.text === text) return { instanceTypes: known.market.instanceTypes, deploymentsOf: market.deploymentsOf };
    this.#markets.set(name, { text, market });
    return market;
  }

  /** The market as it was last known. */
  lastMarket(nodeClass: string): DeploymentMarket | undefined {
    return this.#markets.get(nodeClass)?.market;
  }
}
