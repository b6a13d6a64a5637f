// The library and the wiring: start, virtual time, parallel clusters, certificates, locks.
import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { parseKubeconfig } from '../../pki/kubeconfig.ts'
import { defaultRbacObjects } from '../../apiserver/authorization/bootstrap-policy/default-rbac-objects.ts'
import { managerAccount } from '../../controllers/runtime/controller.ts'
import { controllers } from '../../controllers/controllers.ts'
import { fetchSchedulingExplanation } from '../client/scheduling-explanation.ts'
import { fetchFlowEvents } from '../client/fetch-flow-events.ts'
import { context, deployment, namespace, node, pod, startCluster } from '../index.ts'
import { DirectoryInUse, lockDirectory } from '../data-directory/directory-lock.ts'
import { clusterCertificates } from '../certificates/cluster-certificates.ts'
import { needsRenewal } from '../certificates/pki-directory.ts'
import type { PolicyFlagValues } from '../flags/policy-flags.ts'
import { readPolicySettings } from '../policy/policy-settings.ts'
import { up } from './up.ts'

const ctx = context(new AbortController().signal)
const directory = () => mkdtemp(join(tmpdir(), 'coxswain-cluster-'))

test('a cluster starts with its namespaces and nodes', async () => {
  await using cluster = await startCluster({ nodes: 3 })
  const names = async (kind: typeof node | typeof namespace) =>
    (await cluster.client.of(kind as typeof node).list({}, ctx)).items.map(({ metadata }) => metadata.name)
  deepEqual(await names(namespace), ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  deepEqual(await names(node), ['node-0', 'node-1', 'node-2'])
  deepEqual(cluster.components, [
    'apiserver',
    'controllers',
    'scheduler',
    'kubelet/node-0',
    'kubelet/node-1',
    'kubelet/node-2',
  ])
  throws(() => cluster.start('none'), /there is no component "none"; there are apiserver, /)
})

test('clusters in one process are isolated from one another', async () => {
  const labels = { app: 'web' }
  const replicas = [1, 2, 3]
  const counts = await Promise.all(
    replicas.map(async (count) => {
      await using cluster = await startCluster({ seed: count })
      const spec = {
        replicas: count,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      }
      await cluster.client.of(deployment).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
      await cluster.clock.advance('5s')
      return (await cluster.client.of(pod).list({}, ctx)).items.filter(({ status }) => status.phase === 'Running')
        .length
    }),
  )
  deepEqual(counts, replicas)
})

test('an idle cluster runs for an hour without runaway timers or errors', async () => {
  const warnings: string[] = []
  const log = {
    ...silentLog,
    warn: (message: string) => warnings.push(message),
    error: (message: string) => warnings.push(message),
  }
  await using cluster = await startCluster({ nodes: 2, log: { ...log, with: () => log } })
  await cluster.clock.advance('1h')
  deepEqual(warnings, [])
  ok(cluster.clock.pendingTimers < 100, `${cluster.clock.pendingTimers} timers`)
})

test('keys and certificates are created once, private and complete', async () => {
  const path = await directory()
  const make = () =>
    clusterCertificates(path, { platform: nodePlatform, clock: realClock, random: systemRandom, hosts: [] })
  const first = await make()
  const second = await make()
  deepEqual(
    [second.authority, second.proxyAuthority, second.components, second.accountKey.privateKey],
    [first.authority, first.proxyAuthority, first.components, first.accountKey.privateKey],
  )
  const names = await readdir(path)
  ok(names.length >= 15, names.join())
  for (const name of names) equal((await stat(join(path, name))).mode & 0o777, 0o600, name)
  equal((await stat(path)).mode & 0o077, 0)
  await rm(join(path, 'ca.key'))
  await rejects(make(), /ca\.key is missing, and the other half of the pair is there; restore the file/)
  await rm(path, { recursive: true })
})

test('certificates are renewed when a third of their lifetime remains; authorities are not', async () => {
  const path = await directory()
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const make = () =>
    clusterCertificates(path, { platform: nodePlatform, clock, random: systemRandom, hosts: ['10.0.0.7'] })
  const first = await make()
  match(String(new X509Certificate(first.serving.certificate).subjectAltName), /IP Address:10\.0\.0\.7/)
  await clock.advance('5800h')
  deepEqual((await make()).components, first.components)
  await clock.advance('100h')
  const later = await make()
  equal(later.authority, first.authority)
  for (const [name, { certificate }] of Object.entries(later.components)) {
    ok(certificate !== first.components[name as keyof typeof first.components].certificate, name)
    equal(needsRenewal(certificate, clock.nowMs()), false)
  }
  await rm(path, { recursive: true })
})

test('every controller has an account that the default roles bind', () => {
  const { clusterRoleBindings, roleBindings } = defaultRbacObjects
  const accounts = new Set(
    [...clusterRoleBindings, ...roleBindings].flatMap(({ subjects = [] }) => subjects.map(({ name }) => name)),
  )
  for (const { name, account } of controllers) ok(account === managerAccount || accounts.has(account), name)
})

const auditRules = '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None}]}'
const auditFlags = { 'audit-policy-file': 'p', 'audit-log-path': 'l' }
const flagMistakes: [flags: PolicyFlagValues, files: Record<string, string>, error: RegExp][] = [
  [{ 'authorization-mode': 'Rbac' }, {}, /"Rbac" is none of ABAC, AlwaysAllow/],
  [{ 'authorization-mode': 'Webhook' }, {}, /Webhook needs --authorization-webhook-config-file/],
  [{ 'authorization-mode': 'ABAC' }, {}, /ABAC needs --authorization-policy-file/],
  [{ 'authorization-mode': 'RBAC', 'authorization-config': 'f' }, { f: '{}' }, /cannot both be set/],
  [{ 'anonymous-auth': 'maybe' }, {}, /"maybe" is none of true, false/],
  [{ 'oidc-issuer-url': 'http://x' }, {}, /must begin with https/],
  [{ 'oidc-issuer-url': 'https://x' }, {}, /--oidc-issuer-url needs --oidc-client-id/],
  [{ 'oidc-issuer-url': 'https://x', 'oidc-client-id': 'a', 'oidc-signing-algs': 'HS256' }, {}, /"HS256" is not known/],
  [{ 'token-auth-file': 'none' }, {}, /there is no file none/],
  [{ 'authentication-config': 'f' }, { f: 'apiVersion: v1' }, /apiVersion "v1" is none of/],
  [
    { 'authentication-token-webhook-config-file': 'f' },
    { f: 'clusters: [{name: a, cluster: {server: "http://x"}}]' },
    /must begin with https/,
  ],
  [{ 'enable-admission-plugins': 'Magic' }, {}, /enable-admission-plugins plugin "Magic" is unknown/],
  [
    { 'enable-admission-plugins': 'Priority', 'disable-admission-plugins': 'Priority' },
    {},
    /\[Priority\] in enable-admission-plugins and disable-admission-plugins overlapped/,
  ],
  [
    { 'admission-control-config-file': 'f' },
    { f: '{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{name: EventRateLimit}]}' },
    /plugins\[0\].name "EventRateLimit" is none of PodSecurity, ResourceQuota/,
  ],
  [{ 'max-requests-inflight': '0' }, {}, /--max-requests-inflight "0" is not an integer of at least 1/],
  [{ 'audit-log-mode': 'fast', ...auditFlags }, { p: auditRules }, /--audit-log-mode "fast" is none of batch/],
]
for (const [flags, contents, error] of flagMistakes)
  test(`the flags ${JSON.stringify(flags)} are refused`, async () => {
    const read = (path: string) =>
      Promise.resolve(contents[path] === undefined ? undefined : new TextEncoder().encode(contents[path]))
    await rejects(readPolicySettings(flags, { ...nodePlatform.files, read }), error)
  })

test('the flags of requests in flight add up to the seats of all priority levels, 600 by default', async () => {
  const seatsOf = async (flags: PolicyFlagValues) => (await readPolicySettings(flags, nodePlatform.files)).seats
  deepEqual(await seatsOf({}), 600)
  deepEqual(await seatsOf({ 'max-requests-inflight': '30', 'max-mutating-requests-inflight': '12' }), 42)
})

test('flags enable plugins and name the admission configuration file, whose paths are relative to it', async () => {
  const contents: Record<string, string> = {
    '/etc/admission.yaml': [
      'apiVersion: apiserver.config.k8s.io/v1',
      'kind: AdmissionConfiguration',
      'plugins:',
      '- name: PodSecurity',
      '  configuration:',
      '    apiVersion: pod-security.admission.config.k8s.io/v1',
      '    kind: PodSecurityConfiguration',
      '    defaults: {enforce: baseline}',
      '- name: ResourceQuota',
      '  path: quota.yaml',
    ].join('\n'),
    '/etc/quota.yaml': [
      'apiVersion: apiserver.config.k8s.io/v1',
      'kind: ResourceQuotaConfiguration',
      'limitedResources: [{resource: pods, matchContains: [pods]}]',
    ].join('\n'),
  }
  const read = (path: string) => Promise.resolve(new TextEncoder().encode(contents[path]))
  const flags = {
    'admission-control-config-file': '/etc/admission.yaml',
    'enable-admission-plugins': 'AlwaysPullImages, OwnerReferencesPermissionEnforcement',
    'disable-admission-plugins': 'MutatingAdmissionWebhook',
  }
  const { admission } = await readPolicySettings(flags, { ...nodePlatform.files, read })
  deepEqual(admission.enabled, ['AlwaysPullImages', 'OwnerReferencesPermissionEnforcement'])
  deepEqual(admission.disabled, ['MutatingAdmissionWebhook'])
  deepEqual(admission.podSecurity.defaults.enforce, { level: 'baseline', minor: Infinity })
  deepEqual(admission.limitedResources, [{ group: '', plural: 'pods', contains: ['pods'], scopes: [] }])
})

test('one process locks a data directory; the lock of a dead process is ignored even if its pid is in use again', async () => {
  const path = await directory()
  {
    await using _lock = await lockDirectory(path)
    await rejects(lockDirectory(path), DirectoryInUse)
    match(await readFile(join(path, 'lock'), 'utf8'), /^\d+( \d+)?$/)
    deepEqual(await readdir(path), ['lock'])
  }
  const reused = process.platform === 'linux' ? [`${process.pid} 1`] : []
  for (const left of ['', '999999999', '999999999 1', ...reused]) {
    await writeFile(join(path, 'lock'), left)
    await using _again = await lockDirectory(path)
  }
  await rm(path, { recursive: true })
})

test('up serves requests, writes a working kubeconfig, refuses a second start, and cleans up', async () => {
  const path = await directory()
  const options = {
    dataDirectory: join(path, 'data'),
    kubeconfigPath: join(path, 'kubeconfig'),
    host: '127.0.0.1',
    port: 0,
    nodes: 1,
    log: silentLog,
    store: { kind: 'memory' },
  } as const
  {
    await using running = await up(options)
    const kubeconfig = await readFile(options.kubeconfigPath, 'utf8')
    equal(parseKubeconfig(kubeconfig).server, running.url)
    const events = await fetchFlowEvents(kubeconfig, ctx.signal)
    ok(events.some(({ what }) => /^put \d+ bootstrap objects$/.test(what)))
    equal(await fetchSchedulingExplanation(kubeconfig, 'default/missing', ctx.signal), undefined)
    await rejects(up(options), /is in use by process \d+/)
  }
  await rejects(fetchFlowEvents(await readFile(options.kubeconfigPath, 'utf8'), ctx.signal))
  await using _again = await up(options)
  await rm(path, { recursive: true })
})
