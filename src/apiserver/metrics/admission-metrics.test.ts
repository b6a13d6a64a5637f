// What admission policies and pod security count. The expected lines are those of upstream's server after the same requests.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { podSecurity } from '../admission/plugins/pod-security/pod-security.ts'
import { privilegedConfiguration } from '../admission/plugins/pod-security/pod-security-configuration.ts'
import { serverVersion } from '../discovery/server-version.ts'
import { openPolicies } from '../open-policies.ts'
import { startServer, type Harness } from '../server.harness.ts'
import { PolicyMetrics } from './policy-metrics.ts'

const registration = '/apis/admissionregistration.k8s.io/v1'
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

async function make(server: Harness, path: string, object: object): Promise<number> {
  return (await server.call('POST', path, object)).status
}

async function linesOf(server: Harness, name: RegExp): Promise<string[]> {
  const { body } = await server.call('GET', '/metrics')
  return (body as string).split('\n').filter((line) => name.test(line) && !line.endsWith(' 0'))
}

const create = (server: Harness, name: string) =>
  make(server, '/api/v1/namespaces/default/configmaps', { metadata: { name } })

async function policy(server: Harness, plural: string, name: string, spec: object, binding: object): Promise<void> {
  const metadata = { name }
  const own = { matchConstraints: { resourceRules: [rule] }, ...spec }
  equal(await make(server, `${registration}/${plural}policies`, { metadata, spec: own }), 201)
  const bound = { metadata, spec: { policyName: name, ...binding } }
  equal(await make(server, `${registration}/${plural}policybindings`, bound), 201)
}

test('validations that do not pass are counted by action', async () => {
  await using server = await startServer()
  const notNamed = (name: string) => ({ expression: `object.metadata.name != '${name}'` })
  const failing = { expression: `object.metadata.name != 'failing' || object.data.missing == 'x'` }
  const validations = [notNamed('denied'), failing]
  await policy(server, 'validatingadmission', 'strict', { validations }, { validationActions: ['Warn', 'Audit'] })
  const lenient = { failurePolicy: 'Ignore', validations }
  await policy(server, 'validatingadmission', 'lenient', lenient, { validationActions: ['Deny'] })
  const auditAnnotations = [
    { key: 'k', valueExpression: `object.metadata.name != 'noted' ? '' : string(object.data.x)` },
  ]
  await policy(server, 'validatingadmission', 'noting', { auditAnnotations }, { validationActions: ['Audit'] })
  deepEqual([await create(server, 'fine'), await create(server, 'denied')], [201, 422])
  deepEqual([await create(server, 'failing'), await create(server, 'noted')], [201, 422])
  const line = (action: string, name: string, count: number) =>
    `apiserver_validating_admission_policy_check_total{enforcement_action="${action}",error_type="invalid_error",policy="${name}",policy_binding="${name}"} ${count}`
  const expected = [
    line('allow', 'lenient', 1),
    line('audit', 'strict', 2),
    line('deny', 'lenient', 1),
    line('deny', 'noting', 1),
    line('warn', 'strict', 2),
  ]
  deepEqual((await linesOf(server, /^apiserver_validating_admission_policy_check_total/)).toSorted(), expected)
  deepEqual(
    (await linesOf(server, /^apiserver_validating_admission_policy_check_duration_seconds_count/)).toSorted(),
    expected.map((each) => each.replace('check_total', 'check_duration_seconds_count')),
  )
})

test('mutations are counted with and without an error', async () => {
  await using server = await startServer()
  const expression = `Object{metadata: Object.metadata{labels: {'a': object.metadata.name == 'failing' ? string(object.data.x) : 'b'}}}`
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }]
  await policy(server, 'mutatingadmission', 'm', { mutations, reinvocationPolicy: 'Never' }, {})
  equal(await create(server, 'fine'), 201)
  equal(await create(server, 'failing'), 422)
  const labels = (error: string) => `{error_type="${error}",policy="m",policy_binding="m"} 1`
  deepEqual((await linesOf(server, /^apiserver_mutating_admission_policy_check_total/)).toSorted(), [
    `apiserver_mutating_admission_policy_check_total${labels('invalid_error')}`,
    `apiserver_mutating_admission_policy_check_total${labels('no_error')}`,
  ])
})

test('a policy that has used up its budget has an error type of its own', () => {
  const metrics = new Metrics()
  const message = 'validation failed due to running out of cost budget, no further validation rules will be run'
  new PolicyMetrics(metrics).validated('deny', message, 'p', 'b', 0.1)
  const [counted] = metrics.text().match(/^apiserver_validating_admission_policy_check_total\{.*$/m) ?? []
  equal(counted?.includes('error_type="out_of_budget"'), true)
})

test('pod security counts enforced evaluations, violations that are audited or warned about, and exemptions', async () => {
  const exemptions = { ...privilegedConfiguration.exemptions, namespaces: ['exempt'] }
  const admission = openPolicies.admission.map((plugin) =>
    plugin.name === 'PodSecurity' ? podSecurity({ ...privilegedConfiguration, exemptions }) : plugin,
  )
  await using server = await startServer({ ...openPolicies, admission })
  const prefix = 'pod-security.kubernetes.io/'
  const next = `v1.${Number(serverVersion.minor) + 1}`
  const levels = {
    enforce: 'baseline',
    audit: 'restricted',
    'audit-version': next,
    warn: 'restricted',
    'warn-version': 'v1.30',
  }
  const labels = Object.fromEntries(Object.entries(levels).map(([key, value]) => [prefix + key, value]))
  for (const [name, own] of Object.entries({ strict: labels, exempt: labels, open: {} })) {
    equal(await make(server, '/api/v1/namespaces', { metadata: { name, labels: own } }), 201)
    const account = { metadata: { name: 'default' } }
    equal(await make(server, `/api/v1/namespaces/${name}/serviceaccounts`, account), 201)
  }
  const pod = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  })
  const pods = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`
  equal(await make(server, pods('open'), pod('a')), 201)
  equal(await make(server, pods('exempt'), pod('a')), 201)
  equal(await make(server, pods('strict'), pod('a')), 201)
  equal(await make(server, pods('strict'), pod('b', { hostNetwork: true })), 403)
  const template = { ...pod(''), metadata: { labels: { a: 'b' } } }
  const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } }
  equal(await make(server, '/apis/apps/v1/namespaces/strict/deployments', deployment), 201)
  const line = (decision: string, mode: string, level: string, version: string, resource: string) =>
    `pod_security_evaluations_total{decision="${decision}",mode="${mode}",policy_level="${level}",policy_version="${version}",request_operation="create",resource="${resource}",subresource=""} 1`
  deepEqual((await linesOf(server, /^pod_security_/)).toSorted(), [
    line('allow', 'enforce', 'baseline', 'latest', 'pod'),
    line('allow', 'enforce', 'privileged', 'latest', 'pod'),
    line('deny', 'audit', 'restricted', 'future', 'controller'),
    line('deny', 'audit', 'restricted', 'future', 'pod'),
    line('deny', 'enforce', 'baseline', 'latest', 'pod'),
    line('deny', 'warn', 'restricted', 'v1.30', 'controller'),
    line('deny', 'warn', 'restricted', 'v1.30', 'pod'),
    'pod_security_exemptions_total{request_operation="create",resource="pod",subresource=""} 1',
  ])
})
