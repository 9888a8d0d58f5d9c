/** The shapes that EC2 sells in a region, with their zones. */
import { type AwsApi, allPages } from '../api/aws-api.ts';
import { type Shape, shapeOf } from './shape.ts';

export interface SoldShape {
  readonly shape: Shape;
  readonly zones: ReadonlySet<string>;
}

export type Shapes = ReadonlyMap<string, SoldShape>;

/** Reads all shapes from EC2. */
export async function readShapes(api: AwsApi, signal: AbortSignal): Promise<Shapes> {
  const Filters = [
    { Name: 'supported-virtualization-type', Values: ['hvm'] },
    { Name: 'processor-info.supported-architecture', Values: ['x86_64', 'arm64'] },
  ];
  const [infos, offerings] = await Promise.all([
    allPages(api, 'ec2:DescribeInstanceTypes', { Filters, MaxResults: 100 }, (page) => page.InstanceTypes, signal),
    allPages(
      api,
      'ec2:DescribeInstanceTypeOfferings',
      { LocationType: 'availability-zone', MaxResults: 1000 },
      (page) => page.InstanceTypeOfferings,
      signal,
    ),
  ]);
  const zones = new Map<string, Set<string>>();
  for (const { InstanceType: type = '', Location: zone = '' } of offerings) {
    const known = zones.get(type);
    if (known === undefined) zones.set(type, new Set([zone]));
    else known.add(zone);
  }
  const shapes = new Map<string, SoldShape>();
  for (const info of infos) {
    const shape = shapeOf(info);
    const sold = shape === undefined ? undefined : zones.get(shape.name);
    if (shape !== undefined && sold !== undefined) shapes.set(shape.name, { shape, zones: sold });
  }
  return shapes;
}
