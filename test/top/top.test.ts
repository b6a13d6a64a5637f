// coxswain top in a real terminal, on a cluster with a simulated node.
import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, newFolder, startUp, type RunningUp } from '../process.ts'
import { until } from '../until.ts'
import { openTerminal } from './pty.ts'

let up: RunningUp
before(async () => {
  up = await startUp('--store', 'memory')
  await created('web-0', '100m')
})
after(() => up[Symbol.asyncDispose]())

/** Leaves the alternate screen. */
const leave = '\x1b[?1049l'

const kubectl = kubectls().at(-1)
const created = async (name: string, cpu: string): Promise<void> => {
  if (kubectl === undefined) throw new Error('kubectls() fails without one')
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'web', resources: { requests: { cpu } } }] },
  }
  const { code, err } = await runKubectl(kubectl, up.kubeconfig, ['create', '-f', '-'], { input: JSON.stringify(pod) })
  equal(code, 0, err)
}
const inTerminal = (command: string, environment: NodeJS.ProcessEnv = {}, rows = 24, columns = 80) => {
  const env = { ...process.env, KUBECONFIG: up.kubeconfig, TERM: 'xterm-256color', ...environment }
  return openTerminal(['sh', '-c', command], env, rows, columns)
}

test('a user lists, filters, describes, explains, follows and deletes pods; the terminal is restored', async () => {
  await using terminal = inTerminal(`${coxswain} top; echo "ended with $?"; stty -a`)
  await terminal.shows(/pods\(default\)\[1\][^]*web-0 +1\/1 +Running/)

  // A pod appears by itself.
  await created('api-0', '1000')
  await terminal.shows(/pods\(default\)\[2\][^]*api-0 +0\/1 +Pending/)

  terminal.type('/web\r')
  await terminal.shows(/pods\(default\)\[1 of 2\] \/web/)
  terminal.type('\x1b')
  await terminal.shows(/pods\(default\)\[2\]/)

  // The selection has followed web-0.
  terminal.type('gd')
  await terminal.shows(/describe pod default\/api-0[^]*Name: +api-0[^]*Phase: +Pending/)
  terminal.type('\x1b')
  await terminal.shows(/pods\(default\)\[2\]/)
  terminal.type('y')
  await terminal.shows(/YAML pod default\/api-0[^]*apiVersion: v1/)
  terminal.type('q')

  await terminal.shows(/pods\(default\)\[2\]/)
  terminal.type('w')
  await terminal.shows(/why pod default\/api-0[^]*Insufficient cpu/)
  terminal.type('q')

  await terminal.shows(/pods\(default\)\[2\]/)
  terminal.type('f')
  await terminal.shows(/flow of pod default\/api-0[^]*create pods api-0 → 201/)
  terminal.type('m')
  await terminal.shows(/map[^]*CLIENTS +API SERVER +CONTROLLERS +NODES[^]*API Server +↔ /)
  terminal.type(':no\r')
  await terminal.shows(/nodes\[1\][^]*Ready/)
  terminal.type(':po all\r')
  await terminal.shows(/pods\(all\)[^]*NAMESPACE/)
  terminal.type('/api-0\r')
  await terminal.shows(/\[1 of \d+\] \/api-0/)

  terminal.type('\x04')
  await terminal.shows(/Delete pod default\/api-0\?/)
  terminal.type('y')
  await terminal.shows(/pods\(all\)\[0 of \d+\]/)

  terminal.type(':q\r')
  equal(await terminal.ended, 0)
  const written = terminal.written()
  const [, afterwards = ''] = written.split(leave)
  match(afterwards, /ended with 0/, 'the alternate screen is left before the shell continues')
  match(afterwards, /[^-]icanon[^]*[^-]echo /, 'the terminal has its former mode')
})

test('the terminal is restored when a signal ends the program', async () => {
  await using terminal = inTerminal(`echo "shell $$"; ${coxswain} top; echo "ended"; stty -a`, { NO_COLOR: '1' })
  await terminal.shows(/pods\(default\)\[1\][^]*web-0/)
  equal(terminal.written().includes('46m'), false, 'NO_COLOR is respected')
  const [, shell = ''] = /shell (\d+)/.exec(terminal.written()) ?? []
  await promisify(execFile)('pkill', ['-TERM', '--parent', shell])
  equal(await terminal.ended, 0)
  match(terminal.written().split(leave)[1] ?? '', /ended[^]*[^-]icanon[^]*[^-]echo /)
})

const applied = async (...objects: readonly object[]): Promise<void> => {
  if (kubectl === undefined) throw new Error('kubectls() fails without one')
  const input = objects.map((each) => JSON.stringify(each)).join('\n---\n')
  const { code, err } = await runKubectl(kubectl, up.kubeconfig, ['apply', '-f', '-'], { input })
  equal(code, 0, err)
}

test('digits choose namespaces, and the logs of a workload are those of its pods', async () => {
  const labels = { app: 'printer' }
  const command = ['sh', '-c', 'echo printed; sleep 100000']
  await applied(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'printer', namespace: 'shop' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'printer', command }] } },
      },
    },
  )
  await using terminal = inTerminal(`${coxswain} top`)
  await terminal.shows(/pods\(default\)\[\d+\]/)
  terminal.type(':dp shop\r')
  await terminal.shows(/<2> shop[^]*deployments\(shop\)\[1\][^]*printer +2\/2/)
  terminal.type('l')
  await terminal.shows(/logs deployment shop\/printer/)
  await terminal.shows(/(\[printer-\w+-\w+\/main\] printed\s+){2}/)
  terminal.type('\x1b')
  await terminal.shows(/deployments\(shop\)\[1\]/)
  for (const [key, namespace] of [
    ['1', 'default'],
    ['0', 'all'],
    ['2', 'shop'],
  ] as const) {
    terminal.type(key)
    await terminal.shows(new RegExp(`deployments\\(${namespace}\\)\\[`))
  }
  await terminal.shows(/deployments\(shop\)\[1\]/)
  terminal.type('\r')
  await terminal.shows(/pods\(shop\)\[2\] of deployment\/printer/)
  terminal.type('\x03')
  equal(await terminal.ended, 0)
})

test('texts of objects are no control sequences, also in a small terminal', async () => {
  const hostile = 'a\x1b]0;owned\x07b\x1b[2J\u202e日本語'
  await applied({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'hostile', annotations: { note: hostile } },
    data: { key: hostile },
  })
  await using terminal = inTerminal(`${coxswain} top cm`, {}, 12, 40)
  await terminal.shows(/configmaps\(default\)[^]*hostile/)
  terminal.type('/hostile\rd')
  await terminal.shows(/a\^\[\]0;owned\^Gb\^\[\[2J\ufffd/)
  terminal.type('\x1b')
  await terminal.shows(/configmaps\(default\)\[1 of \d+\]/)
  terminal.type('y')
  await terminal.shows(/YAML configmap/)
  const sequences = terminal.written()
  equal(sequences.includes('\x1b]'), false)
  equal(sequences.includes('\x07'), false)
  equal(sequences.includes('\u202e'), false)
})

test('ctrl-c interrupts an editor, and not the view', async () => {
  const kubectlFolder = dirname(kubectl?.path ?? '')
  // A shell would end because of the interrupt.
  await using terminal = inTerminal(`exec ${coxswain} top`, {
    PATH: `${kubectlFolder}:${process.env['PATH']}`,
    KUBE_EDITOR: `sh -c 'echo the editor runs; sleep 1000'`,
  })
  await terminal.shows(/pods\(default\)\[\d+\][^]*web-0/)
  terminal.type('e')
  await until(() => terminal.written().includes('the editor runs'))
  terminal.type('\x03')
  await terminal.shows(/pods\(default\)\[\d+\][^]*web-0[^]*kubectl ended with/)
  terminal.type(':q\r')
  equal(await terminal.ended, 0)
})

test('an editor that ignores ctrl-c does not keep the view away after kubectl has ended', async () => {
  await using terminal = inTerminal(`exec ${coxswain} top`, {
    PATH: `${dirname(kubectl?.path ?? '')}:${process.env['PATH']}`,
    // It ends with its terminal.
    KUBE_EDITOR: `sh -c 'trap "" INT; echo the editor runs; sleep 1000'`,
  })
  await terminal.shows(/pods\(default\)\[\d+\][^]*web-0/)
  terminal.type('e')
  await until(() => terminal.written().includes('the editor runs'))
  terminal.type('\x03')
  await terminal.shows(/pods\(default\)\[\d+\][^]*web-0[^]*kubectl ended with 1/)
  terminal.type(':q\r')
  equal(await terminal.ended, 0)
})

test('workloads are scaled and restarted, ports forwarded, usage shown and contexts changed', async () => {
  const labels = { app: 'shop' }
  const annotations = { 'coxswain.dev/usage': 'cpu=250m,memory=64Mi' }
  await applied({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'shop', namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers: [{ name: 'main', image: 'shop' }] } },
    },
  })
  const folder = await newFolder()
  const kubeconfig = join(folder, 'config')
  const text = await readFile(up.kubeconfig, 'utf8')
  const [, name = ''] = /^current-context: "?([^"\n]+)/m.exec(text) ?? []
  const config = parse(text) as { contexts: { name: string; context: object }[]; clusters: object[] }
  const [own] = config.contexts
  const away = { name: 'away', cluster: { server: 'https://127.0.0.1:1' } }
  const contexts = [
    { name: 'system', context: { ...own?.context, namespace: 'kube-system' } },
    { name: 'away', context: { ...own?.context, cluster: 'away' } },
  ]
  await writeFile(
    kubeconfig,
    stringify({ ...config, contexts: [...config.contexts, ...contexts], clusters: [...config.clusters, away] }),
  )
  await using terminal = inTerminal(
    `exec ${coxswain} top deployments`,
    { KUBECONFIG: kubeconfig, PATH: `${dirname(kubectl?.path ?? '')}:${process.env['PATH']}` },
    24,
    120,
  )
  await terminal.shows(/deployments\(default\)\[\d+\][^]*shop +1\/1/)
  terminal.type('/shop\rs')
  await terminal.shows(/Replicas of deployment default\/shop: 1/)
  terminal.type('3\r')
  await terminal.shows(/kubectl scale deployment\/shop --replicas=3 -n default: scaled/)
  await terminal.shows(/shop +3\/3/)
  terminal.type('r')
  await terminal.shows(/Restart deployment default\/shop\?/)
  terminal.type('y')
  await terminal.shows(/kubectl rollout restart deployment\/shop -n default: restarted/)
  await terminal.shows(/shop +3\/3 +3 +3/)

  terminal.type('\r')
  await terminal.shows(/pods\(default\)\[3\] of deployment\/shop/)
  // They are read again when the new pods have been measured.
  await terminal.shows(/NAME +READY +STATUS +RESTARTS +CPU +MEM +AGE[^]*shop-\S+ +1\/1 +Running +0 +250m +64Mi/)
  terminal.type('F')
  await terminal.shows(/Ports \(8080:80\) of pod default\/shop-/)
  terminal.type(':80\r')
  await terminal.shows(/kubectl port-forward pod\/shop-\S+ :80 -n default: Forwarding from 127\.0\.0\.1:\d+ -> 80/)
  terminal.type(':pf\r')
  await terminal.shows(/forwards\[1\][^]*pod default\/shop-\S+ +:80 +Running +Forwarding from/)
  terminal.type('\x04')
  await terminal.shows(/forwards\[0\][^]*is no longer forwarded/)

  terminal.type(':ctx\r')
  await terminal.shows(new RegExp(`contexts\\[3\\][^]*away[^]*${name}[^]*\\*[^]*system`))
  terminal.type(':ctx system\r')
  await terminal.shows(/Context +system[^]*deployments\(kube-system\)/)
  terminal.type(':ctx away\r')
  await terminal.shows(/Context +system[^]*cannot reach the API server https:\/\/127\.0\.0\.1:1/)
  terminal.type(':q\r')
  equal(await terminal.ended, 0)
  await rm(folder, { recursive: true })
})

test('without a terminal it is refused', async () => {
  const env = { ...process.env, KUBECONFIG: up.kubeconfig }
  const refused = await promisify(execFile)(coxswain, ['top'], { env }).then(
    () => undefined,
    (error: { code: number; stderr: string }) => error,
  )
  equal(refused?.code, 2)
  match(refused?.stderr ?? '', /coxswain top: it needs a terminal/)
})
