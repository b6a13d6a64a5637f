// coxswain why service/<name> on a running cluster: a wrong selector, a wrong port name, pods that cannot start.
import { match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, startUp } from '../process.ts'

const deployment = (name: string, container: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'web:1', ...container }] },
    },
  },
})
const service = (name: string, app: string, targetPort: number | string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app }, ports: [{ name: 'http', port: 80, targetPort }] },
})

const why = (name: string, kubeconfig: string): Promise<string> =>
  new Promise((resolve) =>
    execFile(coxswain, ['why', `service/${name}`, '--kubeconfig', kubeconfig], (_, out, err) => resolve(out + err)),
  )

test('why explains Services that do not respond', async () => {
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  await using up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '1')
  const items = [
    deployment('web', { ports: [{ name: 'web', containerPort: 8080 }] }),
    deployment('big', { resources: { requests: { cpu: '1000' } } }),
    service('misspelt', 'wep', 8080),
    service('misnamed', 'web', 'http'),
    service('big', 'big', 8080),
  ]
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await runKubectl(kubectl, up.kubeconfig, ['apply', '-f', '-'], { input })
  await runKubectl(kubectl, up.kubeconfig, ['rollout', 'status', 'deployment/web', '--timeout=60s'])
  match(
    await why('misspelt', up.kubeconfig),
    /no pod in its namespace has the labels app=wep\.\n.*The nearest pod is web-\S+: its label app is "web" instead of "wep"\./,
  )
  match(
    await why('misnamed', up.kubeconfig),
    /Its port http \(80\/TCP\) leads to the target port "http", which no container of its pods declares\. Pod web-\S+ declares web \(8080\/TCP\)\./,
  )
  match(
    await why('big', up.kubeconfig),
    /It has no ready endpoints: 0 of 1 pod with the labels app=big are ready\.\n.*Pod big-\S+: It cannot be scheduled: Unschedulable: /,
  )
})
