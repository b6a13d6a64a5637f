// coxswain dns: the DNS server of a cluster, in a process separate from the API server.
import { isIp } from '../../base/net/ip-bytes.ts'
import { dnsSubdomainErrors } from '../../api/validation/names.ts'
import { runDns } from '../../cluster/run/run-dns.ts'
import { configFileOption } from '../command/config-file.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import {
  componentLog,
  kubeconfigOption,
  portOption,
  readKubeconfig,
  readOptionFile,
  verboseOption,
} from '../options/component-options.ts'

const metricsPortDefault = '9153'
/** A longer domain leaves no room for the longest names of pods. */
const domainCharactersMax = 57

export const dns = defineCommand({
  name: 'dns',
  summary: 'serves the DNS names of any cluster and forwards other names',
  operands: '',
  configFile: 'named',
  options: {
    ...configFileOption,
    ...kubeconfigOption,
    'bind-address': {
      type: 'string',
      value: '<address>',
      isRepeatable: true,
      help: 'the address for queries over UDP and TCP; may be repeated (127.0.0.1)',
    },
    port: { type: 'string', value: '<port>', help: 'the port for queries; 0 selects a free one (53)' },
    'cluster-domain': { type: 'string', value: '<domain>', help: "the cluster's domain (cluster.local)" },
    'resolv-conf': {
      type: 'string',
      value: '<file>',
      help: 'the file with the upstream servers for other names; empty for none (/etc/resolv.conf)',
    },
    'metrics-bind-address': {
      type: 'string',
      value: '<address>',
      help: 'the address of /healthz and /metrics (127.0.0.1)',
    },
    'metrics-port': {
      type: 'string',
      value: '<port>',
      help: `the port of /healthz and /metrics; 0 serves neither (${metricsPortDefault})`,
    },
    ...verboseOption,
  },
  async run({ options }, terminal) {
    const { out, signal } = terminal
    const hosts = (options['bind-address'] ?? '127.0.0.1').split(',')
    for (const host of hosts)
      if (!isIp(host)) throw new UsageError(`--bind-address ${JSON.stringify(host)} is not an IP address`)
    const port = portOption('port', options.port ?? '53')
    const metricsPort = portOption('metrics-port', options['metrics-port'] ?? metricsPortDefault)
    const domain = domainOf(options['cluster-domain'] ?? 'cluster.local')
    const kubeconfig = await readKubeconfig(options.kubeconfig, terminal)
    const { 'resolv-conf': path = '/etc/resolv.conf' } = options
    const resolvConf = path === '' ? '' : await readOptionFile('--resolv-conf', path)
    const log = componentLog(options.verbose, terminal)
    const host = options['metrics-bind-address'] ?? '127.0.0.1'
    await runDns(
      {
        kubeconfig,
        hosts,
        port,
        domain,
        resolvConf,
        log,
        ...(metricsPort === 0 ? {} : { serve: { host, port: metricsPort } }),
        onReady: (addresses) =>
          out(
            `serving ${domain} on ${addresses.map(({ address, port: bound }) => `${address} port ${bound}`).join(', ')}\n`,
          ),
      },
      signal,
    )
    return 0
  },
})

function domainOf(text: string): string {
  const domain = text.replace(/\.$/, '').toLowerCase()
  if (domain.length > domainCharactersMax || dnsSubdomainErrors(domain).length > 0)
    throw new UsageError(`--cluster-domain ${JSON.stringify(text)} is not a domain of at most 57 characters`)
  return domain
}
