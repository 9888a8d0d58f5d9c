/** ElasticMQ, an SQS server that stays fast with thousands of messages, where moto does not. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, type Peer } from '../../peers/build-once.ts';

const VERSION = '1.6.12';

const PROJECT = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>spindrift</groupId>
  <artifactId>peer</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.elasticmq</groupId>
      <artifactId>elasticmq-server_2.13</artifactId>
      <version>${VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

export const ELASTICMQ: Peer = {
  name: `elasticmq-${VERSION}`,
  async build(directory, run) {
    const project = join(directory, 'pom.xml');
    writeFileSync(project, PROJECT);
    const to = `-DoutputDirectory=${join(directory, 'lib')}`;
    await run('mvn', ['-q', '-B', '-f', project, 'dependency:copy-dependencies', to]);
  },
};

/** What starts it on a port of loopback: the command's arguments after `java`. */
export async function elasticMqArguments(port: number, configFile: string): Promise<readonly string[]> {
  const directory = await buildOnce(ELASTICMQ);
  const address = `{ protocol = http, host = localhost, port = ${port}, context-path = "" }`;
  const sqs = `rest-sqs { enabled = true, bind-port = ${port}, bind-hostname = "127.0.0.1", sqs-limits = strict }`;
  writeFileSync(
    configFile,
    `include classpath("application.conf")\nnode-address = ${address}\n${sqs}\nrest-stats { enabled = false }\n`,
  );
  const lib = join(directory, 'lib', '*');
  return [`-Dconfig.file=${configFile}`, '-Xmx512m', '-cp', lib, 'org.elasticmq.server.Main'];
}
