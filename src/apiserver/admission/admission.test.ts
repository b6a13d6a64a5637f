import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { AdmissionMetrics } from '../metrics/admission-metrics.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { runToEnd } from '../../base/work/work-slice.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { startServer, type HarnessResponse, type Harness } from '../server.harness.ts'
import { denied } from '../authorization/authorizer.ts'
import { alwaysPullImages } from './plugins/always-pull-images.ts'
import { AdmissionChain } from './framework/admission-chain.ts'
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts'
import { AdmissionRecorder } from './framework/admission-recorder.ts'
import { ReinvocationContext } from './framework/reinvocation.ts'
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from './framework/admission-plugin.ts'
import { admissionPlugins, defaultAdmissionPlugins, defaultAdmissionSettings, enabledPlugins } from './plugins.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { StoreBatch } from '../../store/store.ts'
import { Channel } from '../../base/async/channel.ts'
import { openPolicies } from '../open-policies.ts'

/** Its watches never deliver: caches remain as they were at the start. */
class WatchlessStore extends MemoryStore {
  override watch() {
    return new Channel<StoreBatch>(1)
  }
}

const pods = '/api/v1/namespaces/default/pods'
const container = (more: object = {}) => ({ name: 'c', image: 'i', ...more })
const podWith = (spec: object = {}, name = 'p') => ({
  metadata: { name },
  spec: { containers: [container()], ...spec },
})
const dry = (path: string) => `${path}?dryRun=All`

/** The result of creating a pod in a dry run. */
const admitted = async (server: Harness, spec: object): Promise<HarnessResponse['body']> => {
  const { status, body } = await server.call('POST', dry(pods), podWith(spec))
  equal(status, 201, JSON.stringify(body))
  return body
}
const refusal = async (server: Harness, spec: object): Promise<string> => {
  const { status, body } = await server.call('POST', dry(pods), podWith(spec))
  equal(status, 403, JSON.stringify(body))
  return body.message
}
const make = async (server: Harness, path: string, object: object): Promise<void> => {
  const { status, body } = await server.call('POST', path, object)
  equal(status, 201, JSON.stringify(body))
}

test('the plugins are in upstream’s order, and the optional ones are disabled', () => {
  const names = (plugins: readonly AdmissionPlugin[]) => plugins.map(({ name }) => name)
  const defaults = names(defaultAdmissionPlugins)
  const webhooks = [{ name: 'MutatingAdmissionWebhook' }, { name: 'ValidatingAdmissionWebhook' }].map((named) => ({
    ...alwaysPullImages,
    ...named,
  }))
  const all = names(admissionPlugins(defaultAdmissionSettings, webhooks))
  deepEqual(all.slice(0, 3), ['NamespaceLifecycle', 'LimitRanger', 'ServiceAccount'])
  deepEqual(all.slice(-5), [
    'MutatingAdmissionPolicy',
    'ValidatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionWebhook',
    'ResourceQuota',
  ])
  deepEqual(
    all.filter((name) => !defaults.includes(name) && !name.endsWith('Webhook')),
    ['AlwaysPullImages', 'ExtendedResourceToleration', 'OwnerReferencesPermissionEnforcement'],
  )
  const asked = enabledPlugins(
    { ...defaultAdmissionSettings, enabled: ['AlwaysPullImages'], disabled: ['Priority', 'MutatingAdmissionWebhook'] },
    webhooks,
  )
  const changed = names(asked).filter((name) => !defaults.includes(name))
  deepEqual(changed, ['AlwaysPullImages', 'ValidatingAdmissionWebhook'])
  equal(names(asked).includes('Priority'), false)
})

test('notes are bounded, and the first value of an annotation is retained', () => {
  const notes = new AdmissionRecorder()
  for (let i = 0; i < 100; i++) notes.warn(`w${i}`)
  notes.warn('w0')
  equal(notes.warnings.length, 64)
  notes.annotate('a', '1')
  notes.annotate('a', '2')
  deepEqual([...notes.annotations], [['a', '1']])
})

test('a chain without plugins does not change the object', async () => {
  const metrics = new AdmissionMetrics(new Metrics())
  const host = {
    get: () => undefined,
    list: () => [],
    waitForObject: () => Promise.resolve(undefined),
    readFromStore: () => Promise.resolve(undefined),
    kindNamed: () => undefined,
    versionsOf: () => [],
    convert: (each: ApiObject) => each,
    read: () => undefined,
    readAll: () => [],
    authorize: () => denied(),
    isAllowed: () => Promise.resolve(true),
    nameSuffix: () => 'abcde',
    inSlices: runToEnd,
    flow: new FlowRecorder(new VirtualClock()),
    nowMs: () => 0,
    monotonicMs: () => 0,
    metrics,
  }
  const measures = { clock: new VirtualClock(), metrics }
  const object = podWith() as never
  const attributes = {
    operation: 'create',
    kind: {},
    subresource: '',
    object,
    reinvocation: new ReinvocationContext(),
  } as never
  equal(await new AdmissionChain([], host, measures).admit(attributes), object)
})

test('a missing namespace is reported before an invalid object', async () => {
  await using server = await startServer()
  const { status, body } = await server.call('POST', '/api/v1/namespaces/gone/pods', podWith({ containers: [] }))
  deepEqual([status, body.message], [404, 'namespaces "gone" not found'])
})

test('ServiceAccount: a pod gets an account, a token and the pull secrets', async () => {
  await using server = await startServer()
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await make(server, accounts, {
    metadata: { name: 'quiet' },
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: 's' }],
  })
  const { spec } = await admitted(server, { initContainers: [container({ name: 'first' })] })
  equal(spec.serviceAccountName, 'default')
  equal(spec.serviceAccount, 'default')
  const [volume] = spec.volumes
  match(volume.name, /^kube-api-access-[a-z0-9]{5}$/)
  equal(volume.projected.defaultMode, 420)
  const mount = {
    name: volume.name,
    readOnly: true,
    mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  }
  deepEqual([spec.containers[0].volumeMounts, spec.initContainers[0].volumeMounts], [[mount], [mount]])
  const quiet = await admitted(server, { serviceAccountName: 'quiet' })
  deepEqual([quiet.spec.volumes, quiet.spec.imagePullSecrets], [undefined, [{ name: 's' }]])
  const asking = await admitted(server, { serviceAccountName: 'quiet', automountServiceAccountToken: true })
  equal(asking.spec.volumes.length, 1)
  equal(
    await refusal(server, { serviceAccountName: 'missing' }),
    'pods "p" is forbidden: error looking up service account default/missing: serviceaccount "missing" not found',
  )
})

test('an object is created in a namespace that the cache does not have yet', async () => {
  await using server = await startServer(openPolicies, { store: new WatchlessStore(new VirtualClock()) })
  await make(server, '/api/v1/namespaces', { metadata: { name: 'new' } })
  await make(server, '/api/v1/namespaces/new/configmaps', { metadata: { name: 'a' } })
})

test('ServiceAccount: a create waits up to a second for the default account of a new namespace', async () => {
  await using server = await startServer()
  await make(server, '/api/v1/namespaces', { metadata: { name: 'new' } })
  const early = server.call('POST', '/api/v1/namespaces/new/pods', podWith())
  await make(server, '/api/v1/namespaces/new/serviceaccounts', { metadata: { name: 'default' } })
  equal((await early).status, 201)
  await server.call('DELETE', '/api/v1/namespaces/new/serviceaccounts/default')
  const late = server.call('POST', '/api/v1/namespaces/new/pods', podWith({}, 'late'))
  await server.clock.advance('2s')
  equal((await late).status, 403)
})

test('ServiceAccount: a mirror pod gets no account, and references none', async () => {
  await using server = await startServer()
  const mirror = (spec: object) => ({
    metadata: { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' } },
    spec: { containers: [container()], nodeName: 'n', ...spec },
  })
  const rows: [object, string][] = [
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
  ]
  for (const [spec, detail] of rows) {
    const { body } = await server.call('POST', dry(pods), mirror(spec))
    equal(body.message, `pods "m" is forbidden: ${detail}`)
  }
  const { body } = await server.call('POST', dry(pods), mirror({}))
  equal(body.spec.serviceAccountName, undefined)
})

test('ServiceAccount: an account with enforce-mountable-secrets allows only the Secrets that it references', async () => {
  await using server = await startServer()
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  const annotation = 'kubernetes.io/enforce-mountable-secrets'
  const references = { secrets: [{ name: 'own' }], imagePullSecrets: [{ name: 'pull' }] }
  for (const [name, value] of Object.entries({ strict: 'true', lax: 'yes' }))
    await make(server, accounts, { metadata: { name, annotations: { [annotation]: value } }, ...references })
  const volume = (secretName: string) => ({ volumes: [{ name: 'v', secret: { secretName } }] })
  const variable = (name: string) => ({ env: [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }] })
  const source = (name: string) => ({ envFrom: [{ secretRef: { name } }] })
  const first = (more: object) => ({ initContainers: [container({ name: 'first', ...more })] })
  const why = (what: string) => `${what} is not allowed because service account strict does not reference that secret`
  const rows: [object, string][] = [
    [volume('other'), why('volume with secret.secretName="other"')],
    [
      { containers: [container(variable('other'))] },
      why('container c with envVar E referencing secret.secretName="other"'),
    ],
    [
      { containers: [container(source('other'))] },
      why('container c with envFrom referencing secret.secretName="other"'),
    ],
    [first(variable('other')), why('init container first with envVar E referencing secret.secretName="other"')],
    [first(source('other')), why('init container first with envFrom referencing secret.secretName="other"')],
    [
      { imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] },
      'imagePullSecrets[1].name="other" is not allowed because service account strict does not reference that imagePullSecret',
    ],
  ]
  for (const [spec, detail] of rows) {
    equal(await refusal(server, { serviceAccountName: 'strict', ...spec }), `pods "p" is forbidden: ${detail}`)
    await admitted(server, { serviceAccountName: 'lax', ...spec })
  }
  await admitted(server, {
    serviceAccountName: 'strict',
    ...volume('own'),
    ...first(variable('own')),
    containers: [container(source('own'))],
  })

  await make(server, pods, podWith({ serviceAccountName: 'strict' }))
  const debug = (name: string) => ({ spec: { ephemeralContainers: [container({ name: 'd', ...source(name) })] } })
  const patch = (name: string) =>
    server.call('PATCH', `${pods}/p/ephemeralcontainers`, debug(name), {
      'content-type': 'application/strategic-merge-patch+json',
    })
  const { status, body } = await patch('other')
  deepEqual(
    [status, body.message],
    [403, `pods "p" is forbidden: ${why('ephemeral container d with envFrom referencing secret.secretName="other"')}`],
  )
  equal((await patch('own')).status, 200)
})

test('DefaultTolerationSeconds: pods get tolerations for five minutes unless they have their own', async () => {
  await using server = await startServer()
  const keysOf = ({ spec }: HarnessResponse['body']) =>
    spec.tolerations.map((one: { key?: string; tolerationSeconds?: number }) => [one.key, one.tolerationSeconds])
  const notReady = 'node.kubernetes.io/not-ready'
  const unreachable = 'node.kubernetes.io/unreachable'
  deepEqual(keysOf(await admitted(server, {})), [
    [notReady, 300],
    [unreachable, 300],
  ])
  deepEqual(keysOf(await admitted(server, { tolerations: [{ operator: 'Exists' }] })), [[undefined, undefined]])
  deepEqual(
    keysOf(
      await admitted(server, {
        tolerations: [{ key: notReady, operator: 'Exists', tolerationSeconds: 1, effect: 'NoExecute' }],
      }),
    ),
    [
      [notReady, 1],
      [unreachable, 300],
    ],
  )
})

test('DefaultTolerationSeconds: for how long pods stay is configurable', () => {
  const plugin = defaultTolerationSeconds({ notReady: 20, unreachable: 0 })
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [] } } as unknown as Pod
  const changed = plugin.admit?.({ object } as unknown as AdmissionAttributes, {} as AdmissionHost) as Pod
  deepEqual(
    changed.spec.tolerations?.map(({ key, tolerationSeconds }) => [key, tolerationSeconds]),
    [
      ['node.kubernetes.io/not-ready', 20],
      ['node.kubernetes.io/unreachable', 0],
    ],
  )
})

test('TaintNodesByCondition: a new node gets the not-ready taint in addition to its own taints', async () => {
  await using server = await startServer()
  const ours = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
  const other = { key: 'k', effect: 'NoExecute' }
  const taintsOf = async (taints: object[]) =>
    (await server.call('POST', dry('/api/v1/nodes'), { metadata: { name: 'n' }, spec: { taints } })).body.spec.taints
  deepEqual(await taintsOf([]), [ours])
  deepEqual(await taintsOf([other]), [other, ours])
  deepEqual(await taintsOf([ours]), [ours])
})

test('StorageObjectInUseProtection: new volumes and claims get the finalizer', async () => {
  await using server = await startServer()
  const finalizersOf = async (path: string, spec: object, finalizers: string[]) =>
    (await server.call('POST', dry(path), { metadata: { name: 'x', finalizers }, spec })).body.metadata.finalizers
  const size = { storage: '1Gi' }
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: size } }
  const volume = { accessModes: ['ReadWriteOnce'], capacity: size, hostPath: { path: '/x' } }
  deepEqual(await finalizersOf(claims, claim, ['test/x']), ['test/x', 'kubernetes.io/pvc-protection'])
  deepEqual(await finalizersOf(claims, claim, ['kubernetes.io/pvc-protection']), ['kubernetes.io/pvc-protection'])
  deepEqual(await finalizersOf('/api/v1/persistentvolumes', volume, []), ['kubernetes.io/pv-protection'])
})

test('Priority: the class name sets the value, and there is one default class', async () => {
  await using server = await startServer()
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
  deepEqual((await admitted(server, {})).spec.priority, 0)
  await make(server, classes, { metadata: { name: 'high' }, value: 100, preemptionPolicy: 'Never' })
  await make(server, classes, { metadata: { name: 'usual' }, value: 5, globalDefault: true })
  const { spec } = await admitted(server, { priorityClassName: 'high' })
  deepEqual([spec.priority, spec.preemptionPolicy], [100, 'Never'])
  const usual = await admitted(server, {})
  deepEqual([usual.spec.priority, usual.spec.priorityClassName], [5, 'usual'])
  equal(
    await refusal(server, { priorityClassName: 'x' }),
    'pods "p" is forbidden: no PriorityClass with name x was found',
  )
  match(
    await refusal(server, { priorityClassName: 'high', priority: 3 }),
    /computed 100 from the given PriorityClass name$/,
  )
  const second = await server.call('POST', classes, { metadata: { name: 'other' }, value: 1, globalDefault: true })
  match(second.body.message, /PriorityClass usual is already marked as default. Only one default can exist$/)
})

test('LimitRanger: defaults are set and recorded in an annotation; limits are enforced', async () => {
  await using server = await startServer()
  await make(server, '/api/v1/namespaces/default/limitranges', {
    metadata: { name: 'l' },
    spec: {
      limits: [
        {
          type: 'Container',
          default: { cpu: '500m' },
          defaultRequest: { cpu: '100m', memory: '10Mi' },
          max: { cpu: '1' },
          min: { memory: '1Mi' },
          maxLimitRequestRatio: { cpu: '8' },
        },
        { type: 'Pod', max: { cpu: '1500m' } },
        { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
      ],
    },
  })
  const made = await admitted(server, {})
  deepEqual(made.spec.containers[0].resources, {
    limits: { cpu: '500m' },
    requests: { cpu: '100m', memory: '10Mi' },
  })
  equal(made.status.qosClass, 'Burstable')
  equal(
    made.metadata.annotations['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu, memory request for container c; cpu limit for container c',
  )
  const asking = (resources: object) => ({ containers: [container({ resources })] })
  const rows: [object, string][] = [
    [
      asking({ limits: { cpu: '2' }, requests: { cpu: '1' } }),
      '[maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Pod is 1500m, but limit is 2]',
    ],
    [asking({ requests: { memory: '1Ki' } }), 'minimum memory usage per Container is 1Mi, but request is 1Ki'],
    [
      asking({ requests: { cpu: '10m' } }),
      'cpu max limit to request ratio per Container is 8, but provided ratio is 50.000000',
    ],
  ]
  for (const [spec, detail] of rows) equal(await refusal(server, spec), `pods "p" is forbidden: ${detail}`)
  const claim = await server.call('POST', '/api/v1/namespaces/default/persistentvolumeclaims', {
    metadata: { name: 'big' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
  })
  equal(
    claim.body.message,
    'persistentvolumeclaims "big" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
  )
})

test('default classes: the newest default is set; two default IngressClasses are rejected', async () => {
  await using server = await startServer()
  const marked = (name: string, key: string) => ({ metadata: { name, annotations: { [key]: 'true' } } })
  const claim = {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  const storage = (name: string, more: object = {}) => ({
    ...marked(name, 'storageclass.kubernetes.io/is-default-class'),
    provisioner: 'p',
    ...more,
  })
  equal((await server.call('POST', dry(claims), claim)).body.spec.storageClassName, undefined)
  await make(server, '/apis/storage.k8s.io/v1/storageclasses', storage('old'))
  await server.clock.advance('1m')
  await make(server, '/apis/storage.k8s.io/v1/storageclasses', storage('new'))
  equal((await server.call('POST', claims, claim)).body.spec.storageClassName, 'new')
  const grow = { spec: { resources: { requests: { storage: '2Gi' } } } }
  const asMerge = { 'content-type': 'application/merge-patch+json' }
  const small = await server.call('PATCH', `${claims}/c`, grow, asMerge)
  match(small.body.message, /is forbidden: |is invalid: /)
  await server.call('PATCH', `${claims}/c/status`, { status: { phase: 'Bound' } }, asMerge)
  const grown = await server.call('PATCH', `${claims}/c`, grow, asMerge)
  match(grown.body.message, /only dynamically provisioned pvc can be resized/)
  const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses'
  const ingress = { metadata: { name: 'i' }, spec: { defaultBackend: { service: { name: 's', port: { number: 1 } } } } }
  const ingressClass = (name: string) => ({
    ...marked(name, 'ingressclass.kubernetes.io/is-default-class'),
    spec: { controller: 'a.b/c' },
  })
  await make(server, '/apis/networking.k8s.io/v1/ingressclasses', ingressClass('a'))
  equal((await server.call('POST', dry(ingresses), ingress)).body.spec.ingressClassName, 'a')
  await make(server, '/apis/networking.k8s.io/v1/ingressclasses', ingressClass('b'))
  match((await server.call('POST', dry(ingresses), ingress)).body.message, /2 default IngressClasses were found/)
})

test('RuntimeClass: its overhead and scheduling are copied to the pod', async () => {
  await using server = await startServer()
  await make(server, '/apis/node.k8s.io/v1/runtimeclasses', {
    metadata: { name: 'vm' },
    handler: 'vm',
    overhead: { podFixed: { cpu: '10m' } },
    scheduling: { nodeSelector: { vm: 'yes' }, tolerations: [{ key: 'vm', operator: 'Exists' }] },
  })
  const { spec } = await admitted(server, { runtimeClassName: 'vm' })
  deepEqual(
    [spec.overhead, spec.nodeSelector, spec.tolerations[2]],
    [{ cpu: '10m' }, { vm: 'yes' }, { key: 'vm', operator: 'Exists' }],
  )
  match(await refusal(server, { runtimeClassName: 'x' }), /pod rejected: RuntimeClass "x" not found$/)
  match(
    await refusal(server, { overhead: { cpu: '1' } }),
    /Pod Overhead set without corresponding RuntimeClass defined Overhead$/,
  )
  match(
    await refusal(server, { runtimeClassName: 'vm', nodeSelector: { vm: 'no' } }),
    /conflict: runtimeClass.scheduling.nodeSelector\[vm\] = yes; pod.spec.nodeSelector\[vm\] = no$/,
  )
})

test('optional plugins work when they are enabled', async () => {
  await using server = await startServer({ ...openPolicies, admission: [alwaysPullImages, extendedResourceToleration] })
  const { spec } = await admitted(server, {
    containers: [container({ imagePullPolicy: 'Never', resources: { limits: { 'example.com/gpu': '1' } } })],
  })
  equal(spec.containers[0].imagePullPolicy, 'Always')
  deepEqual(spec.tolerations, [{ key: 'example.com/gpu', operator: 'Exists' }])
})
