// The end-to-end scenario with real kubectl: a Deployment is created, runs, is scaled, updated and deleted; then the
// flow explains it.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { coxswain, startUp } from '../process.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { untilMatch } from '../until.ts'

for (const kubectl of kubectls())
  test(`kubectl ${kubectl.version}: create, get, scale, set image, apply, delete, flow`, async () => {
    await using up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '1')
    match(up.readyLine, /^ready in \d+ ms at https:\/\/127\.0\.0\.1:\d+$/)
    equal((await stat(up.kubeconfig)).mode & 0o777, 0o600)
    equal((await stat(join(up.folder, 'data', 'pki', 'ca.key'))).mode & 0o777, 0o600)

    const k = async (...args: string[]) => {
      const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, args)
      equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
      return out
    }
    const statuses = async () =>
      (await k('get', 'pods', '--no-headers'))
        .trim()
        .split('\n')
        .map((row) => row.split(/\s+/).slice(1, 3).join(' '))

    equal(await k('create', 'deployment', 'web', '--image=nginx', '--replicas=3'), 'deployment.apps/web created\n')
    match(await k('rollout', 'status', 'deployment/web', '--timeout=200s'), /deployment "web" successfully rolled out/)
    deepEqual(await statuses(), ['1/1 Running', '1/1 Running', '1/1 Running'])
    match(await k('get', 'deployments'), /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +3\/3 +3 +3 +\d+s\n$/)
    match(await k('get', 'nodes'), /^NAME +STATUS +ROLES +AGE +VERSION\nnode-0 +Ready +<none> +\d+s +v1\.36\.4\n$/)

    equal(await k('scale', 'deployment/web', '--replicas=5'), 'deployment.apps/web scaled\n')
    await k('rollout', 'status', 'deployment/web', '--timeout=200s')
    equal((await statuses()).length, 5)

    equal(await k('set', 'image', 'deployment/web', 'nginx=nginx:2'), 'deployment.apps/web image updated\n')
    await k('rollout', 'status', 'deployment/web', '--timeout=200s')
    const images = await k('get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[0].image}')
    equal(new Set(images.split(' ')).has('nginx:2'), true)
    match(await k('rollout', 'history', 'deployment/web'), /REVISION {2}CHANGE-CAUSE\n1 +<none>\n2 +<none>/)

    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'red' } }
    const apply = (data: object) =>
      runKubectl(kubectl, up.kubeconfig, ['apply', '-f', '-'], { input: JSON.stringify({ ...manifest, data }) })
    equal((await apply(manifest.data)).out, 'configmap/settings created\n')
    equal((await apply({ color: 'blue', size: 'XL' })).out, 'configmap/settings configured\n')
    equal((await apply({ color: 'blue', size: 'XL' })).out, 'configmap/settings unchanged\n')
    equal((await apply({ size: 'XL' })).out, 'configmap/settings configured\n')
    equal(await k('get', 'configmap', 'settings', '-o', 'jsonpath={.data}'), '{"size":"XL"}')
    match((await apply({ size: 5 })).err, /cannot unmarshal number into Go struct field ConfigMap\.data of type string/)

    match(await k('delete', 'deployment', 'web', '--timeout=200s'), /^deployment\.apps "web" deleted/)
    await k('wait', '--for=delete', 'pods', '-l', 'app=web', '--timeout=200s')
    await untilMatch(() => k('get', 'pods,replicasets', '-o', 'name'), /^$/)

    const { stdout: flow } = await promisify(execFile)(coxswain, [
      'flow',
      'deployment/web',
      '--format',
      'tree',
      '--kubeconfig',
      up.kubeconfig,
    ])
    const chain = [
      /kubectl ──► API Server: create deployments web → 201/,
      /API Server ══► Store: put deployment web @\d+/,
      /API Server --► controller\/deployment: ADDED deployments web/,
      /controller\/deployment ──► API Server: create replicasets web-\w+ → 201/,
      /API Server --► controller\/replica-set: ADDED replicasets web-\w+/,
      /controller\/replica-set ──► API Server: create pods web-\w+-\* → 201/,
      /API Server --► scheduler: ADDED pods web-/,
      /scheduler ──► API Server: create pods\/binding web-\w+-\w+ → 201/,
      /API Server --► kubelet\/node-0: ADDED pods web-/,
      /kubelet\/node-0 ──► Runtime: start container nginx/,
      /kubelet\/node-0 ──► API Server: patch pods\/status web-\w+-\w+ → 200/,
    ]
    let rest = flow
    for (const step of chain) {
      match(rest, step)
      rest = rest.slice(rest.search(step))
    }
    doesNotMatch(flow, /settings/)
    doesNotMatch(await readFile(up.kubeconfig, 'utf8'), /undefined/)
    equal(await up.end(), 0)
  })
