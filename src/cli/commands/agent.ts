// coxswain agent: joins this machine to a cluster as a worker: its kubelet, and with real containers the service proxy and
// network policies. It reaches all API servers through a balancer.
import { join, resolve } from 'node:path'
import type { Bootstrap } from '../../cluster/client/join-cluster.ts'
import { joinServer } from '../../cluster/client/join-token-text.ts'
import { runKubelet } from '../../cluster/run/run-kubelet.ts'
import { machineConfigOption } from '../command/config-file.ts'
import { defineCommand } from '../command/command.ts'
import { asUsage, portOption } from '../options/component-options.ts'
import { dataDirectoryOf } from '../options/data-directory-option.ts'
import { joinOptions, joinTokenOf } from '../options/join-options.ts'
import { nodeChoicesOf, nodeOptions } from '../options/node-options.ts'

const balancerPortDefault = '6444'

export const agent = defineCommand({
  name: 'agent',
  summary: 'joins this machine to a cluster as a worker',
  operands: '',
  configFile: 'machine',
  options: {
    ...machineConfigOption,
    server: {
      type: 'string',
      value: 'https://<host>:<port>',
      help: 'an API server of the cluster; needed only until the machine has joined',
    },
    token: {
      type: 'string',
      value: '<token>',
      help: "a bootstrap token with the hash of the cluster's CA (K10<hash>::<id>.<secret>), or <id>.<secret> with --discovery-token-ca-cert-hash",
    },
    ...joinOptions,
    'lb-server-port': {
      type: 'string',
      value: '<n>',
      help: `the port on 127.0.0.1 that leads to an API server that is ready; 0 for any free one (${balancerPortDefault})`,
    },
    'kubelet-config': { type: 'string', value: '<file>', help: 'a KubeletConfiguration; flags override it' },
    'data-dir': {
      type: 'string',
      value: '<directory>',
      help: 'the data directory of the node (~/.local/share/coxswain/agent)',
    },
    ...nodeOptions,
  },
  async run({ options }, terminal) {
    const { environment, signal } = terminal
    const dataDirectory = resolve(options['data-dir'] ?? join(dataDirectoryOf({}, environment), 'agent'))
    const port = portOption('lb-server-port', options['lb-server-port'] ?? balancerPortDefault)
    await runKubelet(
      {
        kubeconfigPath: join(dataDirectory, 'kubelet.kubeconfig'),
        bootstrap: await bootstrapOf(options),
        bootstrapFlags: '--server with --token',
        balancerPort: port,
        dataDirectory,
        ...(await nodeChoicesOf(options, { flag: 'kubelet-config', path: options['kubelet-config'] }, terminal)),
      },
      signal,
    )
    return 0
  },
})

interface BootstrapFlags {
  readonly server?: string
  readonly token?: string
  readonly 'token-file'?: string
  readonly 'discovery-token-ca-cert-hash'?: string
}

async function bootstrapOf(given: BootstrapFlags): Promise<Bootstrap | undefined> {
  const { server } = given
  if (server === undefined) return undefined
  const token = await joinTokenOf(given)
  return token && { kind: 'token', server: asUsage(() => joinServer(server)), token }
}
