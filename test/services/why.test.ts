// coxswain why service/<name> on a running cluster: a wrong selector, a wrong port name, pods that cannot start; and
// coxswain why pod/<name> --reach: which policy allows or blocks the traffic.
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

const run = (kubeconfig: string, ...args: string[]): Promise<string> =>
  new Promise((resolve) =>
    execFile(coxswain, ['why', ...args, '--kubeconfig', kubeconfig], (error, out, err) =>
      resolve(`${out}${err}${error === null ? '' : `exit code ${error.code}`}`),
    ),
  )
const why = (name: string, kubeconfig: string) => run(kubeconfig, `service/${name}`)

const client = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'client', labels: { app: 'client' } } }
const policy = (name: string, spec: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name },
  spec,
})
const app = (name: string) => ({ podSelector: { matchLabels: { app: name } } })

test('why explains Services that do not respond, and what a pod reaches', async () => {
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  await using up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '1')
  const items = [
    deployment('web', { ports: [{ name: 'web', containerPort: 8080 }] }),
    deployment('big', { resources: { requests: { cpu: '1000' } } }),
    service('misspelt', 'wep', 8080),
    service('misnamed', 'web', 'http'),
    service('big', 'big', 8080),
    service('good', 'web', 8080),
    { ...client, spec: { containers: [{ name: 'c', image: 'client:1' }] } },
    policy('web', {
      ...app('web'),
      ingress: [{ from: [app('front')] }, { from: [app('client')], ports: [{ port: 8080 }] }],
    }),
    policy('client', { ...app('client'), policyTypes: ['Egress'], egress: [{ to: [{ podSelector: {} }] }] }),
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

  await runKubectl(kubectl, up.kubeconfig, ['wait', 'pod/client', '--for=condition=Ready', '--timeout=60s'])
  match(
    await run(up.kubeconfig, 'pod/client', '--reach', 'service/good'),
    /^pod\/client to service\/good\n {2}Allowed[^]*The name good resolves to 10\.[^]*leads to 1 of 1 endpoint[^]*The egress of pod default\/client is allowed by rule egress\[0\] of the policy default\/client\.\n.*The ingress of pod default\/web-\S+ is allowed by rule ingress\[1\] of the policy default\/web\.\n/,
  )
  const { out: name } = await runKubectl(kubectl, up.kubeconfig, ['get', 'pods', '-l', 'app=web', '-o', 'name'])
  const blocked = await run(up.kubeconfig, 'pod/default/client', '--reach', `${name.trim()}:81`, '-n', 'other')
  match(
    blocked,
    /Blocked by network policies[^]*Rule ingress\[0\] of default\/web is for other peers\. Rule ingress\[1\] of default\/web is for other ports\./,
  )
  const json = await run(up.kubeconfig, 'pod/client', '--reach', '198.51.100.7:80', '-o', 'json')
  match(json, /"verdict": "blocked"/)
  match(
    await run(up.kubeconfig, 'pod/client', '--reach', 'service/none'),
    /there is no service none in the namespace default\nexit code 2/,
  )
  match(await run(up.kubeconfig, 'pod/cleint', '--reach', 'service/good'), /cleint.*client[^]*exit code 2/)
})
