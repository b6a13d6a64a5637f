// kubectl commands for autoscalers on simulated nodes: autoscale, get, describe; and why.
import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, startUp } from '../process.ts'
import { untilMatch } from '../until.ts'

const kubectl = kubectls().at(-1)
if (kubectl === undefined) throw new Error('there is no kubectl')

test(`kubectl ${kubectl.version}: autoscale, get hpa, describe hpa; coxswain why`, async () => {
  await using up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '1')
  const k = async (args: string, input = '') => {
    const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, args.split(' '), { input })
    equal(code, 0, `kubectl ${args}: ${err}`)
    return out
  }
  const labels = { app: 'web' }
  const container = { name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }
  const annotations = { 'coxswain.dev/usage': 'cpu=80m' }
  const template = { metadata: { labels, annotations }, spec: { containers: [container] } }
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  await k('apply -f -', JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec }))
  await k('rollout status deployment/web --timeout=200s')
  equal(
    await k('autoscale deployment web --cpu=50% --min=2 --max=3'),
    'horizontalpodautoscaler.autoscaling/web autoscaled\n',
  )
  match(
    await k('get hpa web'),
    /^NAME +REFERENCE +TARGETS +MINPODS +MAXPODS +REPLICAS +AGE\nweb +Deployment\/web +cpu: <unknown>\/50% +2 +3 +0 +\S+\n$/,
  )
  await k('wait hpa/web --for=jsonpath={.status.desiredReplicas}=3 --timeout=200s')
  await k('wait deployment/web --for=jsonpath={.status.readyReplicas}=3 --timeout=200s')
  await untilMatch(() => k('get hpa web'), /\nweb +Deployment\/web +cpu: 80%\/50% +2 +3 +3 +\S+\n$/)
  const described = await k('describe hpa web')
  match(described, /resource cpu on pods +\(as a percentage of request\): +80% \(80m\) \/ 50%/)
  match(described, /Min replicas: +2\nMax replicas: +3\n/)
  match(
    described,
    /ScalingLimited +True +TooManyReplicas +the desired replica count is more than the maximum replica count/,
  )
  match(
    await k('get events --field-selector involvedObject.name=web,reason=SuccessfulRescale'),
    /New size: 3; reason: cpu resource utilization \(percentage of request\) above target/,
  )
  const { stdout } = await promisify(execFile)(coxswain, ['why', 'hpa/web', '--kubeconfig', up.kubeconfig])
  match(stdout, /Its metrics ask for more replicas than its maximum of 3\./)
})
