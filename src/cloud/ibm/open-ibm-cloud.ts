/** Assembles the driver of IBM Cloud. */
import type { IBMNodeClass } from '../../apis/ibm/ibm-node-class.ts';
import { ANNOTATION_IBM_SUBNET } from '../../apis/ibm/labels.ts';
import { NAMESPACES } from '../../apis/kubernetes/core.ts';
import { asError, hasCode, SpindriftError } from '../../platform/errors.ts';
import { secretLetters } from '../../platform/secret.ts';
import type { Cloud, CloudController, NoticeSource } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import { NodeClassController } from '../node-class/node-class-controller.ts';
import { AccountClient } from './api/account-client.ts';
import { authenticate, type ServiceOpener } from './api/authentication.ts';
import { IbmApi } from './api/ibm-api.ts';
import type { VpcClient } from './api/vpc-client.ts';
import type { VpcInstance } from './api/vpc-types.ts';
import { BootstrapTokens } from './bootstrap/bootstrap-tokens.ts';
import { KnownClusterFacts } from './bootstrap/cluster-facts.ts';
import { joinSettings } from './bootstrap/join-settings.ts';
import { userDataOf } from './bootstrap/user-data.ts';
import { IbmCatalogue } from './catalogue.ts';
import { IbmCloud } from './ibm-cloud.ts';
import { CircuitBreaker } from './launch/circuit-breaker.ts';
import { LeftoverSweep } from './launch/leftovers.ts';
import { Ownership } from './launch/ownership.ts';
import { LoadBalancers } from './load-balancers.ts';
import { IBM_NODE_CLASS_KIND } from './node-class/ibm-node-class-kind.ts';
import { resolveNodeClass } from './node-class/resolve-node-class.ts';
import type { IbmOptions } from './options.ts';
import { EventNotifications } from './preemption/event-notifications.ts';
import { PreemptionReport } from './preemption/preemption-report.ts';
import { PreemptionSweep } from './preemption/preemption-sweep.ts';
import { CataloguePrices } from './prices/catalogue-prices.ts';
import { PriceBook } from './prices/price-book.ts';
import { Regions } from './regions.ts';

/** Opens services with the credentials of the options. */
export function serviceOpener(options: IbmOptions): Promise<ServiceOpener> {
  return authenticate({
    type: options.ibmAuthType,
    apiKey: options.ibmApiKey ?? options.ibmVpcApiKey,
    profileId: options.ibmTrustedProfileId,
    profileName: options.ibmTrustedProfileName,
    accountId: options.ibmAccountId,
    tokenFile: options.ibmTokenFile,
    iamUrl: options.ibmIamUrl,
    metadataUrl: options.ibmMetadataUrl,
  });
}

/** The driver, with all its parts. */
export async function openIbmCloud(world: CloudWorld, options: IbmOptions, open: ServiceOpener): Promise<Cloud> {
  const { client, clock, logger, informers, recorder, metrics } = world;
  if (options.ibmEventsPort > 0 && options.ibmEventsToken === undefined)
    throw new SpindriftError('OPTION_INVALID', {
      option: '--ibm-events-token',
      value: 'not given',
      allowed: 'a secret that notifications carry, because --ibm-events-port is set',
    });
  if (options.ibmSpotDiscountPercent > 0)
    logger.warn(
      'KARPENTER_SPOT_DISCOUNT_PERCENT is the share that is paid, not what is taken off: use IBM_SPOT_PRICE_PERCENT',
      { percent: options.ibmSpotDiscountPercent },
    );
  const cluster = await clusterIdentity(world);
  const claims = () => informers.nodeClaims.list();
  const nodeClass = (name: string) => informers.nodeClasses.get(name) as IBMNodeClass | undefined;
  const regions = new Regions({ clock, open, vpcUrl: options.ibmVpcUrl, version: options.ibmVpcVersion });
  const account = new AccountClient({
    clock,
    tagging: open(options.ibmGlobalTaggingUrl),
    resourceManager: open(options.ibmResourceManagerUrl),
  });
  const catalogPrices = new CataloguePrices({ api: new IbmApi({ service: open(options.ibmGlobalCatalogUrl), clock }) });
  const prices = new PriceBook({ clock, logger, read: (region, signal) => catalogPrices.onDemand(region, signal) });
  const memoryOverhead = options.ibmMemoryOverheadPercent / 100;
  const percent = options.ibmSpotDiscountPercent > 0 ? options.ibmSpotDiscountPercent : options.ibmSpotPricePercent;
  const catalogue = new IbmCatalogue({
    regions,
    prices,
    spot: { percent, percentOf: options.ibmSpotPricePercentOf },
    memoryOverhead,
    nodes: () => informers.nodes.list(),
  });
  const ownership = new Ownership({ cluster, claims });
  const tokens = new BootstrapTokens({
    client,
    clock,
    logger,
    secret: () => secretLetters(16),
    claim: (uid) => claims().find(({ metadata }) => metadata.uid === uid),
    lifeMs: options.ibmBootstrapTokenLife,
  });
  const balancers = new LoadBalancers({
    clock,
    logger,
    recorder,
    claims,
    nodeClass,
    vpc: (region) => regions.vpc(region),
  });
  const report = new PreemptionReport({ metrics, recorder, ownership, nodes: () => informers.nodes.list() });
  const vpcs = (): readonly VpcClient[] => cloud.scopes().map((region) => regions.vpc(region));
  const isOurs = (instance: { readonly name: string }): boolean => ownership.isOurs(instance);
  const nodeClasses = new NodeClassController({
    name: 'ibm.nodeclass',
    kind: IBM_NODE_CLASS_KIND,
    world,
    resolve: async (checked, signal) => {
      const { region } = checked.spec;
      const check = {
        vpc: regions.vpc(region),
        account,
        shapes: await regions.shapes(region, signal),
        machinesIn: (subnet: string) =>
          claims().filter(({ metadata }) => metadata.annotations?.[ANNOTATION_IBM_SUBNET] === subnet).length,
        resourceGroup: options.ibmResourceGroup,
      };
      return resolveNodeClass(checked, check, clock.now(), signal);
    },
  });
  const facts = new KnownClusterFacts({
    client,
    clock,
    nodes: () => informers.nodes.list(),
    endpoint: options.ibmClusterEndpoint,
    kubernetesMinor: options.ibmKubernetesMinor,
  });
  const pricing: CloudController = { name: 'ibm.prices', run: (signal) => prices.run(() => cloud.scopes(), signal) };
  const cloud: IbmCloud = new IbmCloud({
    world,
    account,
    regions,
    catalogue,
    ownership,
    breaker: new CircuitBreaker({
      clock,
      enabled: options.ibmCircuitBreaker === 'true',
      failures: options.ibmCircuitBreakerFailures,
      windowMs: options.ibmCircuitBreakerWindow,
      openMs: options.ibmCircuitBreakerRecovery,
      trials: options.ibmCircuitBreakerTrials,
      perMinute: options.ibmLaunchesPerMinute,
    }),
    balancers,
    memoryOverhead,
    homeRegion: options.ibmRegion,
    userData: async (claim, ofClass, labels, vcpu, signal) => {
      const { spec } = ofClass;
      const known = await facts.facts(spec.apiServerEndpoint, signal);
      const token = await tokens.tokenFor(claim, signal);
      const settings = joinSettings({ claim, spec, facts: known, token, vcpu, labels });
      return userDataOf({ settings, userData: spec.userData, userDataAppend: spec.userDataAppend });
    },
    noticeSources: [
      ...sweep(options.ibmPreemptionInterval, {
        clock,
        logger,
        regions: vpcs,
        isOurs,
        dealtWith: async (instance: VpcInstance, vpc: VpcClient, signal: AbortSignal) => {
          report.preempted(instance);
          // It is stopped but its boot volume still costs money. Deleting the claim would delete it too, but later.
          await vpc.deleteInstance(instance.id, signal).catch((error: unknown) => {
            if (signal.aborted) throw error;
            logger.warn('a preempted machine could not be deleted yet', {
              instance: instance.id,
              error: asError(error),
            });
          });
        },
      }),
      ...(options.ibmEventsPort === 0
        ? []
        : [
            new EventNotifications({
              clock,
              logger,
              host: options.ibmEventsHost,
              port: options.ibmEventsPort,
              token: options.ibmEventsToken ?? '',
            }),
          ]),
    ],
    controllers: [nodeClasses, pricing, tokens, balancers, new LeftoverSweep({ clock, logger, regions: vpcs, isOurs })],
  });
  return cloud;
}

function sweep(
  everyMs: number,
  rest: Omit<ConstructorParameters<typeof PreemptionSweep>[0], 'everyMs'>,
): readonly NoticeSource[] {
  return everyMs === 0 ? [] : [new PreemptionSweep({ ...rest, everyMs })];
}

/** Two clusters may have the same name; the UID of kube-system is unique. */
async function clusterIdentity({ client, cluster }: CloudWorld): Promise<string> {
  try {
    const { metadata } = await client.get(NAMESPACES, { name: 'kube-system' });
    return `${cluster}/${metadata.uid ?? ''}`;
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_FORBIDDEN')) return cluster;
    throw error;
  }
}
