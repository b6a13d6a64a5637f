// coxswain kube-apiserver: the API server with upstream's flags, for programs that start upstream's executable. Keys and
// certificates are made by those who start it, and objects are in their etcd.
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createLog } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { readGivenCertificates, type CertificateFiles } from '../../cluster/certificates/given-certificates.ts'
import { policyFlags, type PolicyFlag, type PolicyFlagValues } from '../../cluster/flags/policy-flags.ts'
import { serviceRangeFlags, type ServiceRangeFlag } from '../../cluster/flags/service-ranges.ts'
import { up } from '../../cluster/run/up.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { switchWithoutEffect, withoutEffect } from '../options/accepted-flags.ts'
import { portOption } from '../options/component-options.ts'
import { optionsOf, pick, policySection } from '../options/server-options.ts'
import { etcdChoiceOf, etcdTlsOptions } from '../options/store-option.ts'

const certificateDirectoryDefault = '/var/run/kubernetes'
const portDefault = '6443'
const prefixDefault = '/registry'
/** With this value of $COXSWAIN_ENVTEST, the controllers, the scheduler and a simulated node run in the process, too. */
const withControllers = 'controllers'
/** From this verbosity on, upstream logs each request. */
const debugVerbosity = 6

const file = (help: string) => ({ type: 'string', value: '<file>', help }) as const

export const kubeApiserver = defineCommand({
  name: 'kube-apiserver',
  summary: "runs the API server with upstream's flags, for programs that start upstream's",
  operands: '',
  options: {
    'etcd-servers': { type: 'string', value: '<urls>', help: 'the addresses of etcd, separated by commas' },
    'etcd-prefix': { type: 'string', value: '<prefix>', help: `the prefix of all keys in etcd (${prefixDefault})` },
    ...etcdTlsOptions,
    'bind-address': { type: 'string', value: '<address>', help: 'the address to listen on (127.0.0.1)' },
    'secure-port': { type: 'string', value: '<port>', help: `the port to listen on (${portDefault})` },
    'advertise-address': { type: 'string', value: '<address>', help: 'the address for pods (that of --bind-address)' },
    'cert-dir': {
      type: 'string',
      value: '<directory>',
      help: `contains apiserver.crt and apiserver.key, and what the server makes itself (${certificateDirectoryDefault})`,
    },
    'tls-cert-file': file('the certificate of the server, in place of that in --cert-dir'),
    'tls-private-key-file': file('the key of that certificate'),
    'client-ca-file': file('the CA of the certificates of clients'),
    'service-account-key-file': {
      ...file('a key, or a certificate with it, whose ServiceAccount tokens are accepted; may be repeated'),
      isRepeatable: true,
    },
    'service-account-signing-key-file': file('the key that signs ServiceAccount tokens'),
    'kubelet-client-certificate': file('the client certificate for kubelets'),
    'kubelet-client-key': file('the key of that certificate'),
    ...optionsOf(serviceRangeFlags, 'Addresses and ports of Services'),
    ...optionsOf(policyFlags, policySection),
    'allow-privileged': { type: 'boolean', help: 'privileged containers are always allowed', section: 'Others' },
    v: { type: 'string', value: '<n>', help: `log more from ${debugVerbosity} on`, section: 'Others' },
    'delete-collection-workers': withoutEffect('<n>'),
    'enable-bootstrap-token-auth': switchWithoutEffect,
    'enable-priority-and-fairness': switchWithoutEffect,
    'endpoint-reconciler-type': withoutEffect('<type>'),
    'event-ttl': withoutEffect('<duration>'),
    'feature-gates': withoutEffect('<gates>'),
    'kubelet-preferred-address-types': withoutEffect('<types>'),
    'logging-format': withoutEffect('<format>'),
    profiling: switchWithoutEffect,
    'runtime-config': withoutEffect('<versions>'),
    'shutdown-delay-duration': withoutEffect('<duration>'),
    'storage-backend': withoutEffect('<version>'),
    'storage-media-type': withoutEffect('<type>'),
    'tracing-config-file': withoutEffect('<file>'),
    vmodule: withoutEffect('<modules>'),
    'watch-cache': switchWithoutEffect,
  },
  async run({ options }, { out, err, isTerminal, environment, signal, startedMs }) {
    const { 'etcd-servers': servers, 'etcd-prefix': prefix = prefixDefault } = options
    if (servers === undefined) throw new UsageError('--etcd-servers must be specified')
    const directory = resolve(options['cert-dir'] ?? certificateDirectoryDefault)
    const host = options['bind-address'] ?? '127.0.0.1'
    const level = Number((options.v ?? '').replace('=', '')) >= debugVerbosity ? 'debug' : 'info'
    const log = createLog({ clock: realClock, write: err, format: isTerminal ? 'text' : 'json', level })
    for (const flag of ['feature-gates', 'runtime-config'] as const)
      if (options[flag] !== undefined) log.info('a flag has no effect', { flag, value: options[flag] })
    const runsControllers = environment['COXSWAIN_ENVTEST'] === withControllers
    const dataDirectory = join(directory, 'coxswain')
    const policies = pick<PolicyFlag>(options, Object.keys(policyFlags) as PolicyFlag[])
    const store = etcdChoiceOf('--etcd-servers', servers, options)
    await using running = await up({
      dataDirectory,
      kubeconfigPath: join(dataDirectory, 'admin.kubeconfig'),
      store: prefix === prefixDefault ? store : { ...store, prefix },
      host,
      port: portOption('secure-port', options['secure-port'] ?? portDefault),
      advertisedHost: options['advertise-address'],
      given: await readGivenCertificates(
        await certificateFiles(options, directory),
        nodePlatform.files,
        nodePlatform.crypto,
      ),
      policyFlags: runsControllers ? withNodes(policies) : policies,
      serviceRangeFlags: pick<ServiceRangeFlag>(options, Object.keys(serviceRangeFlags) as ServiceRangeFlag[]),
      nodes: runsControllers ? 1 : 0,
      isAlone: !runsControllers,
      log,
    })
    out(`ready in ${Math.round(realClock.nowMs() - startedMs)} ms at ${running.url}\n`)
    if (!signal.aborted) await once(signal, 'abort')
    return 0
  },
})

/** The simulated node acts as a node, which RBAC alone does not allow. */
function withNodes(flags: PolicyFlagValues): PolicyFlagValues {
  const { 'authorization-mode': modes } = flags
  return modes === undefined || modes.split(',').includes('Node')
    ? flags
    : { ...flags, 'authorization-mode': `Node,${modes}` }
}

/** As upstream, the pair in --cert-dir serves if no other is named. */
async function certificateFiles(flags: CertificateFiles, directory: string): Promise<CertificateFiles> {
  const pair = {
    'tls-cert-file': join(directory, 'apiserver.crt'),
    'tls-private-key-file': join(directory, 'apiserver.key'),
  }
  if (flags['tls-cert-file'] !== undefined || flags['tls-private-key-file'] !== undefined) return flags
  const present = await Promise.all(Object.values(pair).map((path) => nodePlatform.files.read(path)))
  return present.includes(undefined) ? flags : { ...flags, ...pair }
}
