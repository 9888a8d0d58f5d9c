/** Assembles the AWS driver. */
import type { EC2Client } from '@aws-sdk/client-ec2';
import { LABEL_RESERVATION_ID } from '../../apis/aws/labels.ts';
import type { Cloud, NoticeSource } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import { ApiMetrics } from './api/api-metrics.ts';
import type { AwsApi } from './api/aws-api.ts';
import { isNotFound } from './api/aws-error.ts';
import { CallGate } from './api/call-gate.ts';
import { SdkApi } from './api/sdk-api.ts';
import { AwsCloud } from './aws-cloud.ts';
import type { AwsOptionValues } from './aws-options.ts';
import { builtInPrices } from './built-in/built-in-prices.ts';
import { Ec2Catalogue } from './catalogue/ec2-catalogue.ts';
import { LearnedMemory } from './catalogue/learned-memory.ts';
import { memoryLearner } from './catalogue/memory-learner.ts';
import { PriceBook } from './catalogue/price-book.ts';
import { RegionMarket } from './catalogue/region-market.ts';
import { ClusterDirectory, type ClusterSettings } from './cluster-directory.ts';
import { ec2NodeClassKind } from './ec2-node-class-kind.ts';
import { awsNoticeSources } from './interruption/aws-notice-sources.ts';
import { FleetLauncher } from './launch/fleet-launcher.ts';
import { LaunchTemplates } from './launch/launch-templates.ts';
import { instanceTags } from './machines/instance-tags.ts';
import { Instances } from './machines/instances.ts';
import { parseProviderID } from './machines/provider-id.ts';
import { ec2NodeClassController } from './node-class/ec2-node-class-controller.ts';
import { InstanceProfiles } from './node-class/instance-profiles.ts';
import type { ResolveOptions } from './node-class/resolve-node-class.ts';
import { NodeClassValidation } from './node-class/validate-node-class.ts';
import { ReservationNotices } from './reservation-notices.ts';
import { Images } from './selectors/images.ts';
import { PlacementGroups } from './selectors/placement-groups.ts';
import { CapacityReservations } from './selectors/reservations.ts';
import { SecurityGroups } from './selectors/security-groups.ts';
import { Subnets } from './selectors/subnets.ts';

/** The parts of the driver, for tests that inspect them. */
export interface AwsParts {
  readonly cloud: Cloud;
  readonly resolve: ResolveOptions;
  readonly validation: NodeClassValidation;
  readonly market: RegionMarket;
  readonly templates: LaunchTemplates;
}

/** Checks region and credentials with a first call; rejects with a message that says what is missing. */
export async function openAws(world: CloudWorld, values: AwsOptionValues): Promise<Cloud> {
  const { clock, random } = world;
  const metrics = new ApiMetrics(world.metrics);
  const api = new SdkApi({
    ...(values.awsRegion === undefined ? {} : { region: values.awsRegion }),
    gate: new CallGate(clock, random.split('aws.calls')),
    clock,
    onCall: (operation, outcome, ms) => metrics.called(operation, outcome, ms),
  });
  const region = values.awsRegion ?? (await api.region());
  const caBundle = values.awsCaBundle ?? (await caBundleOf(world.cluster, api));
  const known = caBundle === undefined ? values : { ...values, awsCaBundle: caBundle };
  return assembleAws(world, known, api, region, await noticeSources(world, values, api, region)).cloud;
}

async function noticeSources(
  { clock, logger, metrics, informers }: CloudWorld,
  { awsInterruptionQueue: queue }: AwsOptionValues,
  api: SdkApi,
  region: string,
): Promise<readonly NoticeSource[]> {
  return awsNoticeSources({
    clock,
    logger,
    metrics,
    nodeClaims: informers.nodeClaims,
    region,
    ...(queue === undefined ? {} : { interruptionQueue: queue }),
    ec2: (await api.client('ec2')) as EC2Client,
    machineKey: (providerID) => parseProviderID(providerID)?.instanceId,
    reservationLabel: LABEL_RESERVATION_ID,
  });
}

/** The certificate authority is part of the hash of node classes, so it must be known before any is hashed. */
async function caBundleOf(cluster: string, api: AwsApi): Promise<string | undefined> {
  try {
    const { cluster: found } = await api.call('eks:DescribeCluster', { name: cluster }, new AbortController().signal);
    return found?.certificateAuthority?.data;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export function assembleAws(
  world: CloudWorld,
  values: AwsOptionValues,
  api: AwsApi,
  region: string,
  sources: readonly NoticeSource[] = [],
): AwsParts {
  const { clock, random, logger, cluster, client, informers } = world;
  const market = new RegionMarket({
    api,
    clock,
    logger,
    region,
    prices: new PriceBook(builtInPrices(region)),
    isolated: values.awsIsolatedVpc,
  });
  const learned = new LearnedMemory();
  const catalogue = new Ec2Catalogue({
    region,
    memoryOverhead: values.awsMemoryOverhead,
    reservedInterfaces: values.awsReservedInterfaces,
    learnedMemory: (images, shape) => learned.get(images, shape),
  });
  const directory = new ClusterDirectory({
    api,
    client,
    clock,
    nodes: () => informers.nodes.list(),
    settings: settingsOf(cluster, values),
  });
  const subnets = new Subnets(api, clock);
  const reservations = new CapacityReservations(api, clock);
  const placementGroups = new PlacementGroups(api, clock);
  const templates = new LaunchTemplates({ api, clock, logger, cluster });
  const launcher = new FleetLauncher({
    api,
    clock,
    region,
    cluster,
    directory,
    subnets,
    reservations,
    placementGroups,
    templates,
    onDemandStrategy: values.awsOnDemandStrategy,
  });
  const profiles = new InstanceProfiles({ api, clock, random: random.split('aws.profiles'), region, cluster });
  const resolve: ResolveOptions = {
    placementGroups,
    clock,
    directory,
    images: new Images(api, clock),
    subnets,
    securityGroups: new SecurityGroups(api, clock),
    reservations,
    profiles,
    isolated: values.awsIsolatedVpc,
  };
  const kind = ec2NodeClassKind(values.awsCaBundle);
  const validation = new NodeClassValidation({
    api,
    clock,
    region,
    cluster,
    directory,
    templates,
    typesOf: async (nodeClass, signal) => {
      await market.load(signal);
      const { shapes, shapesVersion, prices } = market;
      return catalogue.instanceTypes(nodeClass, { shapes, shapesVersion, prices, learnedVersion: learned.version });
    },
  });
  const nodeClasses = ec2NodeClassController({
    world,
    kind,
    resolve,
    validation,
    profiles,
    templates,
    catalogue,
    isolated: values.awsIsolatedVpc,
  });
  const cloud = new AwsCloud({
    api,
    clock,
    region,
    nodeClass: kind,
    nodeClasses: informers.nodeClasses,
    nodeClaims: informers.nodeClaims,
    market,
    learned,
    catalogue,
    reservations,
    instances: new Instances(api, clock, cluster),
    launcher,
    noticeSources: [
      new ReservationNotices({ clock, reservations, claims: () => informers.nodeClaims.list() }),
      ...sources,
    ],
    controllers: [market, templates, nodeClasses, instanceTags(api, world), memoryLearner(learned, world)],
  });
  return { cloud, resolve, validation, market, templates };
}

function settingsOf(name: string, values: AwsOptionValues): ClusterSettings {
  const {
    awsClusterEndpoint: endpoint,
    awsCaBundle: caBundle,
    awsServiceCidr: serviceCidr,
    awsKubernetesVersion: kubernetesVersion,
  } = values;
  return {
    name,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(caBundle === undefined ? {} : { caBundle }),
    ...(serviceCidr === undefined ? {} : { serviceCidr }),
    ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
  };
}
