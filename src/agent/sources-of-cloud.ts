/** The notice sources of a machine, by its cloud. */
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { ImdsSource } from './aws/imds-source.ts';
import { ScheduledEventsSource, vmNameOf } from './azure/scheduled-events-source.ts';
import type { AgentCloud } from './cloud-of-machine.ts';
import { GcpSource } from './gcp/gcp-source.ts';
import { httpMetadata } from './metadata/http-metadata.ts';
import type { WarningSource } from './node-warning.ts';
import { SystemdSource } from './shutdown/systemd-source.ts';

export interface SourcesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cloud: AgentCloud;
  readonly providerID?: string;
  /** The URL of the metadata service, for tests. */
  readonly metadataUrl?: string;
  /** The socket of the host's system bus; without it, systemd is no source. */
  readonly busSocket?: string;
  readonly gcpNoticeMs: number;
  readonly shutdownNoticeMs: number;
}

const LINK_LOCAL = 'http://169.254.169.254';

export function sourcesOfCloud(options: SourcesOptions): readonly WarningSource[] {
  const { clock, logger, cloud, providerID, metadataUrl = LINK_LOCAL, busSocket } = options;
  const ask = httpMetadata(metadataUrl, clock);
  const sources: WarningSource[] = [];
  if (cloud === 'aws') sources.push(new ImdsSource({ clock, logger, ask }));
  if (cloud === 'gcp') sources.push(new GcpSource({ clock, logger, ask, noticeMs: options.gcpNoticeMs }));
  if (cloud === 'azure') {
    const name = vmNameOf(providerID ?? '');
    sources.push(new ScheduledEventsSource({ clock, logger, ask, names: () => (name === undefined ? [] : [name]) }));
  }
  if (busSocket !== undefined)
    sources.push(new SystemdSource({ clock, logger, socket: busSocket, noticeMs: options.shutdownNoticeMs }));
  return sources;
}
