import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isRestartable, isScalable, replicasIn } from '../../calls/workload-kinds.ts'
import { deployments, nodes, pods } from './state.harness.ts'
import { isForwardable, isPorts, kubectlText, type WorkloadAction } from './workload-actions.ts'

const web = { resource: deployments, namespace: 'shop', name: 'web' }
const commands: [action: WorkloadAction, text: string][] = [
  [{ kind: 'scale', replicas: 3 }, 'kubectl scale deployment/web --replicas=3 -n shop'],
  [{ kind: 'restart' }, 'kubectl rollout restart deployment/web -n shop'],
  [{ kind: 'forward', ports: '8080:80' }, 'kubectl port-forward deployment/web 8080:80 -n shop'],
  [{ kind: 'delete', isNow: false }, 'kubectl delete deployment/web -n shop'],
  [{ kind: 'delete', isNow: true }, 'kubectl delete deployment/web --now -n shop'],
]
for (const [action, text] of commands) test(text, () => equal(kubectlText(web, action), text))

test('an object without a namespace', () =>
  equal(
    kubectlText({ resource: nodes, namespace: '', name: 'a' }, { kind: 'delete', isNow: false }),
    'kubectl delete node/a',
  ))

for (const [what, resource, isScaled, isRestarted, isForwarded] of [
  ['a Deployment', deployments, true, true, true],
  ['a pod', pods, false, false, true],
  ['a node', nodes, false, false, false],
  ['a DaemonSet', { ...deployments, plural: 'daemonsets' }, false, true, false],
  ['a Deployment of another group', { ...deployments, group: 'example.com' }, false, false, false],
] as const)
  test(`${what}: scale ${isScaled}, restart ${isRestarted}, port-forward ${isForwarded}`, () =>
    equal(
      [isScalable(resource), isRestartable(resource), isForwardable(resource)].join(),
      [isScaled, isRestarted, isForwarded].join(),
    ))

for (const [text, replicas] of [
  ['3', 3],
  [' 0 ', 0],
  ['', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['10001', undefined],
] as const)
  test(`${JSON.stringify(text)} as a number of replicas`, () => equal(replicasIn(text), replicas))

for (const [text, isValid] of [
  ['8080:80', true],
  [':80', true],
  ['80', true],
  ['8080:http', true],
  ['http', true],
  ['', false],
  ['8080:', false],
  ['70000:80', false],
  ['80:70000', false],
  ['8080:80 9090', false],
  ['--address=0.0.0.0', false],
] as const)
  test(`${JSON.stringify(text)} ${isValid ? 'are' : 'are no'} ports`, () => equal(isPorts(text), isValid))
