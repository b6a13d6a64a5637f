// kubectl commands for workloads on simulated nodes: their effect and output are those of upstream.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'
import { until, untilMatch } from '../until.ts'

const kubectl = kubectls().at(-1)
if (kubectl === undefined) throw new Error('there is no kubectl')

test(`kubectl ${kubectl.version}: rollout, scale, jobs, wait, cascading deletion`, async () => {
  await using up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '2')
  const k = async (...args: string[]) => {
    const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, args)
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out
  }
  const apply = async (object: object) => {
    const { out, err } = await runKubectl(kubectl, up.kubeconfig, ['apply', '-f', '-'], {
      input: JSON.stringify(object),
    })
    equal(err, '')
    return out
  }
  const image = () => k('get', 'deploy/web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}')
  const status = () => k('rollout', 'status', 'deploy/web', '--timeout=200s')

  await k('create', 'deployment', 'web', '--image=nginx:1', '--replicas=3')
  match(await status(), /deployment "web" successfully rolled out\n$/)
  await k('set', 'image', 'deploy/web', 'nginx=nginx:2')
  await k('annotate', 'deploy/web', 'kubernetes.io/change-cause=two')
  match(await status(), /successfully rolled out/)
  await untilMatch(
    () => k('rollout', 'history', 'deploy/web'),
    /^deployment.apps\/web \nREVISION {2}CHANGE-CAUSE\n1 +<none>\n2 +two\n/,
  )
  match(await k('rollout', 'history', 'deploy/web', '--revision=1'), /Image:\tnginx:1/)
  equal(await k('rollout', 'undo', 'deploy/web'), 'deployment.apps/web rolled back\n')
  match(await status(), /successfully rolled out/)
  equal(await image(), 'nginx:1')
  match(await k('rollout', 'history', 'deploy/web'), /REVISION {2}CHANGE-CAUSE\n2 +two\n3 +<none>\n/)
  equal(await k('rollout', 'pause', 'deploy/web'), 'deployment.apps/web paused\n')
  await k('set', 'image', 'deploy/web', 'nginx=nginx:3')
  const once = () => k('rollout', 'status', 'deploy/web', '--watch=false')
  await untilMatch(once, /0 out of 3 new replicas have been updated/)
  equal(await k('rollout', 'resume', 'deploy/web'), 'deployment.apps/web resumed\n')
  match(await status(), /successfully rolled out/)
  equal(await k('rollout', 'restart', 'deploy/web'), 'deployment.apps/web restarted\n')
  match(await status(), /successfully rolled out/)
  equal(await k('scale', 'deploy/web', '--replicas=1'), 'deployment.apps/web scaled\n')
  await k('wait', 'deploy/web', '--for=jsonpath={.status.replicas}=1', '--timeout=200s')

  const template = (app: string) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'c', image: 'x:1' }] },
  })
  const spec = (app: string) => ({ selector: { matchLabels: { app } }, template: template(app) })
  const meta = (name: string) => ({ apiVersion: 'apps/v1', metadata: { name } })
  equal(
    await apply({ ...meta('db'), kind: 'StatefulSet', spec: { serviceName: 'db', replicas: 2, ...spec('db') } }),
    'statefulset.apps/db created\n',
  )
  match(await k('rollout', 'status', 'sts/db', '--timeout=200s'), /roll out complete: 2 new pods/)
  await k('set', 'image', 'sts/db', 'c=x:2')
  match(await k('rollout', 'status', 'sts/db', '--timeout=200s'), /roll out complete: 2 new pods/)
  match(await k('rollout', 'history', 'sts/db'), /REVISION {2}CHANGE-CAUSE\n1 +<none>\n2 +<none>/)
  equal(await k('rollout', 'undo', 'sts/db'), 'statefulset.apps/db rolled back\n')
  await k('rollout', 'status', 'sts/db', '--timeout=200s')
  equal(await k('get', 'pod', 'db-1', '-o', 'jsonpath={.spec.containers[0].image}'), 'x:1')
  await apply({ ...meta('agent'), kind: 'DaemonSet', spec: spec('agent') })
  match(await k('rollout', 'status', 'ds/agent', '--timeout=200s'), /daemon set "agent" successfully rolled out/)
  await k('set', 'image', 'ds/agent', 'c=x:2')
  match(await k('rollout', 'status', 'ds/agent', '--timeout=200s'), /successfully rolled out/)
  equal(await k('rollout', 'undo', 'ds/agent'), 'daemonset.apps/agent rolled back\n')
  match(await k('rollout', 'status', 'ds/agent', '--timeout=200s'), /successfully rolled out/)

  await k('create', 'cronjob', 'tick', '--image=x', '--schedule=0 0 1 1 *')
  equal(await k('create', 'job', 'now', '--from=cronjob/tick'), 'job.batch/now created\n')
  await k('wait', 'pod', '-l', 'job-name=now', '--for=condition=Ready', '--timeout=200s')
  match(await k('get', 'job', 'now'), /NAME +STATUS +COMPLETIONS +DURATION +AGE\nnow +Running +0\/1/)

  await k('delete', 'deploy', 'web', '--cascade=orphan')
  match(await k('get', 'rs', '-l', 'app=web', '-o', 'name'), /replicaset.apps\/web-/)
  await until(async () => (await k('get', 'pods', '-l', 'app=web', '-o', 'name')).trim().split('\n').length === 1)
  await k('delete', 'rs', '-l', 'app=web', '--cascade=foreground', '--timeout=200s')
  equal(await k('get', 'pods', '-l', 'app=web', '-o', 'name'), '')
  await k('delete', 'sts/db', 'ds/agent', 'cronjob/tick', '--timeout=200s')
  await k('wait', '--for=delete', 'pods', '--all', '--timeout=200s')
  await untilMatch(() => k('get', 'pods,jobs,rs,controllerrevisions', '-o', 'name'), /^$/)
})
