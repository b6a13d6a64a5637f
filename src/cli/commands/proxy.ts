// coxswain proxy: the service proxy of this machine, in a process separate from the kubelet.
import { hostname } from 'node:os'
import type { Cidr } from '../../base/net/cidr.ts'
import { parseCidrSloppy, parseIpSloppy } from '../../base/net/sloppy-address.ts'
import type { ListenAddress } from '../../cluster/node/proxy-ports.ts'
import { removeProxyRules, runProxy } from '../../cluster/run/run-proxy.ts'
import { localAddressesIn } from '../../cluster/run/local-addresses.ts'
import { configFileOption } from '../command/config-file.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { componentLog, kubeconfigOption, readKubeconfig, verboseOption } from '../options/component-options.ts'

const healthzDefault = '0.0.0.0:10256'
const metricsDefault = '127.0.0.1:10249'

export const proxy = defineCommand({
  name: 'proxy',
  summary: 'routes the traffic of Services on this machine, for any API server',
  operands: '',
  configFile: 'named',
  options: {
    ...configFileOption,
    ...kubeconfigOption,
    'hostname-override': { type: 'string', value: '<name>', help: 'the name of the Node (the name of this machine)' },
    'cluster-cidr': {
      type: 'string',
      value: '<ranges>',
      help: 'the addresses of pods, separated by commas; other clients of a cluster IP get the address of this node',
    },
    'masquerade-all': { type: 'boolean', help: 'all clients of a cluster IP get the address of this node' },
    'bind-address': {
      type: 'string',
      value: '<address>',
      help: "the address of node ports (the Node's internal addresses)",
    },
    'nodeport-addresses': {
      type: 'string',
      value: '<ranges>',
      help: "accept node ports at this machine's addresses in these ranges, or at the Node's: primary (primary)",
    },
    'healthz-bind-address': {
      type: 'string',
      value: '<address:port>',
      help: `where /healthz and /livez are served; empty for nowhere (${healthzDefault})`,
    },
    'metrics-bind-address': {
      type: 'string',
      value: '<address:port>',
      help: `where /metrics is served; empty for nowhere (${metricsDefault})`,
    },
    'network-policies': {
      type: 'boolean',
      help: 'also enforce NetworkPolicies: on machines where neither coxswain kubelet nor a CNI plugin does',
    },
    cleanup: { type: 'boolean', help: 'remove the rules of this proxy from this machine and exit' },
    ...verboseOption,
  },
  async run({ options }, terminal) {
    const { out, signal } = terminal
    if (options.cleanup === true) {
      await removeProxyRules(options['network-policies'] === true)
      return 0
    }
    const podCidrs = rangesOf('--cluster-cidr', options['cluster-cidr'] ?? '')
    const nodeAddresses = nodeAddressesOf(options['bind-address'], options['nodeport-addresses'] ?? 'primary')
    const healthz = listenAddress('--healthz-bind-address', options['healthz-bind-address'] ?? healthzDefault)
    const metricsAt = listenAddress('--metrics-bind-address', options['metrics-bind-address'] ?? metricsDefault)
    const kubeconfig = await readKubeconfig(options.kubeconfig, terminal)
    const log = componentLog(options.verbose, terminal)
    await runProxy(
      {
        kubeconfig,
        podCidrs,
        log,
        masqueradesAll: options['masquerade-all'] === true,
        enforcesPolicies: options['network-policies'] === true,
        nodeName: (options['hostname-override'] ?? hostname()).toLowerCase(),
        ...(nodeAddresses === undefined ? {} : { nodeAddresses }),
        ...(healthz === undefined ? {} : { healthz }),
        ...(metricsAt === undefined ? {} : { metricsAt }),
        onSynced: () => out('ready\n'),
      },
      signal,
    )
    return 0
  },
})

/** Undefined: the addresses of the Node. */
function nodeAddressesOf(address: string | undefined, ranges: string): (() => readonly string[]) | undefined {
  const own = address === undefined ? undefined : parseIpSloppy(address)
  if (address !== undefined && own === undefined)
    throw new UsageError(`--bind-address ${JSON.stringify(address)} is not an IP address`)
  if (ranges === 'primary' || ranges === '') return own === undefined ? undefined : () => [own]
  const parsed = rangesOf('--nodeport-addresses', ranges)
  return () => localAddressesIn(parsed)
}

const rangesOf = (flag: string, text: string): readonly Cidr[] =>
  text
    .split(',')
    .filter((range) => range !== '')
    .map((range) => {
      const cidr = parseCidrSloppy(range)
      if (cidr === undefined) throw new UsageError(`${flag} ${JSON.stringify(range)} is not a range of addresses`)
      return cidr
    })

function listenAddress(flag: string, text: string): ListenAddress | undefined {
  if (text === '') return undefined
  // linear: a flag is short.
  const [, bracketed, plain, portText = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(portText)
  if (host === undefined || port > 65_535) throw new UsageError(`${flag} ${JSON.stringify(text)} is not address:port`)
  return { host, port }
}
