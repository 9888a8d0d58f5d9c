import type { RegionWorld } from '../server/region-world.ts';

/** A request for a spot machine with all required fields. */
export function aPrototype(world: RegionWorld, name: string, zone = 0): Record<string, unknown> {
  const subnet = world.network.subnets[zone];
  return {
    name,
    profile: { name: 'bxf-4x16' },
    zone: { name: subnet?.zone },
    vpc: { id: world.network.vpc.id },
    image: { id: world.images[0]?.id },
    availability: { class: 'spot' },
    availability_policy: { preemption: 'stop' },
    reservation_affinity: { policy: 'disabled' },
    primary_network_attachment: {
      name: 'eth0',
      virtual_network_interface: { subnet: { id: subnet?.id }, auto_delete: true },
    },
  };
}
