// Commands about a running cluster: what is wrong in it, what pods reach, tokens, components; and what needs no cluster.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { context } from '../../base/observability/context.ts'
import { situations } from '../../cluster/lab/situations.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import { publishClusterInfo } from '../../cluster/bootstrap/cluster-info.ts'
import { parseKubeconfig } from '../../pki/kubeconfig.ts'
import { commands } from '../commands.ts'
import { run } from '../run.ts'

const ctx = context(new AbortController().signal)
let cluster: TestCluster
let directory = ''

/** Runs a command, until it has printed `last` if that is given. */
async function typed(argv: readonly string[], last?: string) {
  const controller = new AbortController()
  let printed = ''
  let complained = ''
  const code = await run(commands, argv, {
    out(text) {
      printed += text
      // After the statement that prints.
      if (last !== undefined && printed.includes(last)) queueMicrotask(() => controller.abort())
    },
    err: (text) => void (complained += text),
    isTerminal: false,
    startedMs: 0,
    signal: controller.signal,
    environment: { KUBECONFIG: join(directory, 'config'), HOME: directory },
  })
  return { code, printed, complained }
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coxswain-commands-'))
  cluster = await startCluster({ nodes: 1, https: true })
  const { client } = cluster
  const container = { name: 'main', image: 'web' }
  const large = { containers: [{ ...container, resources: { requests: { cpu: '1000' } } }] }
  await client.of(pod).create({ metadata: { name: 'large' }, spec: large }, 'default', ctx)
  await client.of(pod).create({ metadata: { name: 'small' }, spec: { containers: [container] } }, 'default', ctx)
  await cluster.until(async () => {
    const pods = await Promise.all(['large', 'small'].map((name) => client.of(pod).get(name, 'default', ctx)))
    const [waiting, running] = pods.map(({ status }) => status)
    const isRejected = waiting?.conditions?.some(({ reason }) => reason === 'Unschedulable') ?? false
    return isRejected && running?.phase === 'Running'
  })
  const { server, authority } = parseKubeconfig(cluster.kubeconfig)
  await publishClusterInfo(client, { server, authority }, ctx)
  await writeFile(join(directory, 'config'), cluster.kubeconfig)
  await writeFile(join(directory, 'ipv6'), cluster.kubeconfig.replace('//127.0.0.1:', '//[::1]:'))
  await writeFile(join(directory, 'file'), 'kind: Ship\n')
})
after(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true })
})

test('why without an object lists what is wrong, as text and as JSON', async () => {
  const { code, printed } = await typed(['why', '-n', 'default'])
  equal(code, 0)
  match(printed, /^\d+ problems? in the namespace default, the most severe first\.\n/)
  match(printed, /\npod\/large in default: \w+\n {2}.*cpu/)
  const json = JSON.parse((await typed(['why', '-o', 'json'])).printed) as { problems: { object: string }[] }
  equal(
    json.problems.some(({ object }) => object === 'pod/large'),
    true,
  )
  match(
    (await typed(['why', '-n', 'kube-public'])).printed,
    /^No problem found in the namespace kube-public\. Checked: /,
  )
})

const codes: [argv: string[], code: number][] = [
  [['-n', 'default'], 1],
  [['-n', 'kube-public'], 0],
  [['pod/large'], 1],
  [['pod/small'], 0],
]
for (const [argv, code] of codes)
  test(`why ${argv.join(' ')} --exit-code ends with ${code}`, async () => {
    equal((await typed(['why', ...argv, '--exit-code'])).code, code)
  })

test('why explains an object as JSON, with the decision of the scheduler', async () => {
  const { printed } = await typed(['why', 'pod/large', '-o', 'json'])
  const { severity, decision } = JSON.parse(printed) as { severity: string; decision: { nodes: unknown[] } }
  deepEqual([severity === 'info', decision.nodes.length], [false, 1])
})

test('why --reach explains a connection as text and as JSON', async () => {
  const text = await typed(['why', 'pod/small', '--reach', 'pod/small:80'])
  equal(text.code, 0)
  match(text.printed, /small/)
  const json = await typed(['why', 'pod/small', '--reach', '192.0.2.7:443', '-n', 'default', '-o', 'json'])
  equal(typeof JSON.parse(json.printed), 'object')
})

const refused: [argv: string[], message: RegExp][] = [
  [['why', 'pod/smal', '--reach', 'pod/small:80'], /pod "smal" not found in namespace "default"; did you mean small\?/],
  [['why', 'pod/small', '--reach', 'service/none:80'], /none/],
  [['token'], /the operands are: create, list, delete <id>/],
  [['token', 'delete'], /the operands are: create, list, delete <id>/],
  [['token', 'delete', 'abc'], /the operand is neither a token nor its id/],
  [['token', 'list', 'abcdef'], /the operands are: create, list, delete <id>/],
  [['token', 'list', '--ttl', '1h'], /--ttl is a flag of: coxswain token create/],
  [['token', 'create', '--ttl', 'soon'], /soon/],
  [['token', 'create', '--print-join-command'], /other machines do not reach https:\S+; start the cluster with --bind/],
  [
    ['token', 'create', '--print-join-command', '--kubeconfig', 'IPV6'],
    /other machines do not reach https:\/\/\[::1\]:\d+;/,
  ],
  [
    ['token', 'create', '--server-url', 'https://192.0.2.1:6443'],
    /--server-url has no effect without --print-join-command/,
  ],
  [
    ['token', 'create', '--print-join-command', '--server-url', 'https://a/$(x)'],
    /--server-url "https:\/\/a\/\$\(x\)" is not an address such as https:/,
  ],
  [['token', 'list', '--server-url', 'https://192.0.2.1:6443'], /--server-url is a flag of: coxswain token create/],
  [['completion'], /the operand is one of bash\|fish\|zsh/],
  [['completion', 'csh'], /the operand is one of bash\|fish\|zsh/],
  [['up', '--wait'], /--wait has no effect without --detach/],
  [['up', '--detach', '--wait-timeout', '1m'], /--wait-timeout has no effect without --wait/],
  [['lab', 'zzzzzzzzzz'], /unknown situation "zzzzzzzzzz"; coxswain lab lists all/],
  [['top'], /it needs a terminal; kubectl get and coxswain flow print to files and pipes/],
  [['kubelet', '--runtime', 'docker'], /--runtime "docker" is none of auto, containerd, simulated/],
  [['kubelet', '--config', '/none'], /--config \/none: ENOENT/],
  [['kubelet', '--config', 'FILE'], /--config \S+file: /],
  [['kubelet', '--runtime', 'simulated', '--max-pods', 'many'], /--max-pods/],
  [['agent', '--server', 'https://192.0.2.1:6443'], /--server has no effect without --token or --token-file/],
  [['agent', '--token', 'abcdef.0123456789abcdef'], /--token has no effect without --server/],
  [
    ['agent', '--server', 'https://192.0.2.1:6443', '--token', 'abcdef.0123456789abcdef'],
    /--token does not contain the hash of the CA/,
  ],
  [
    ['agent', '--server', 'http://192.0.2.1:6443', '--token', `K10${'0'.repeat(64)}::abcdef.0123456789abcdef`],
    /--server "http:\/\/192\.0\.2\.1:6443" is not an address such as https:/,
  ],
  [
    ['agent', '--server', 'https://a', '--token', 'abcdef.0123456789abcdef', '--token-file', 'f'],
    /--token and --token-file exclude one another/,
  ],
  [['agent', '--server', 'https://a', '--token-file', '/none'], /cannot read --token-file \/none/],
  [['agent', '--server', 'https://192.0.2.1:6443', '--token-file', 'FILE'], /--token has none of the forms/],
  [['agent', '--lb-server-port', 'x'], /--lb-server-port "x" is not a number from 0 to 65535/],
  [['agent', '--kubelet-config', '/none'], /--kubelet-config \/none: ENOENT/],
  [['agent', '--runtime', 'docker'], /--runtime "docker" is none of auto, containerd, simulated/],
  [['service'], /the operands are: install\|uninstall agent\|server\|up \[-- <flags>\]/],
  [['service', 'install', 'constructor'], /the operands are: install/],
  [['service', 'uninstall', 'up', '--', '--port=1'], /the operands are: install/],
  [['service', 'install', 'up', '--', '--prot', '1'], /unknown flag --prot; did you mean --port\?/],
  [['service', 'install', 'up', '--dry-run', '--', '--detach'], /--detach cannot be used in a service/],
  [
    [
      'service',
      'install',
      'agent',
      '--',
      '--server=https://a',
      `--token=K10${'0'.repeat(64)}::abcdef.0123456789abcdef`,
    ],
    /all users may read a unit: write the token to a file/,
  ],
  [['service', 'install', 'up', '--dry-run', '--', '--name', 'a\nb'], /contains a control character/],
  [['node'], /the operands are: drain <name>, remove <name>/],
  [['node', 'drain'], /the operands are: drain <name>, remove <name>/],
  [['node', 'constructor', 'worker'], /the operands are: drain <name>, remove <name>/],
  [['node', 'drain', 'worker', '--timeout', 'soon'], /soon/],
  [['node', 'drain', 'worker', '--grace-period', '-1s'], /--grace-period/],
  [['node', 'drain', 'worker', '--pod-selector', '=='], /--pod-selector: /],
  [['controller-manager', '--cluster-signing-key-file', '/none'], /-cert-file and --cluster-signing-key-file belong/],
  [['controller-manager', '--root-ca-file', '/none'], /cannot read the authority \/none/],
  [['dns', '--resolv-conf', '/none'], /cannot read --resolv-conf \/none/],
  [['scheduler', '--config', '/none'], /--config/],
]
for (const [argv, message] of refused)
  test(`coxswain ${argv.join(' ')} is refused`, async () => {
    const words = argv.map((word) => (['FILE', 'IPV6'].includes(word) ? join(directory, word.toLowerCase()) : word))
    const { code, complained } = await typed(words)
    match(complained, message)
    equal(code, 2)
  })

test('token create prints a token that the cluster knows', async () => {
  // The time of this cluster is not that of the machine; an expired token would be deleted at once.
  const { code, printed } = await typed(['token', 'create', '--ttl', '876000h'])
  equal(code, 0)
  match(printed, /^[a-z0-9]{6}\.[a-z0-9]{16}\n$/)
  const { type } = await cluster.client.of(secret).get(`bootstrap-token-${printed.slice(0, 6)}`, 'kube-system', ctx)
  equal(type, 'bootstrap.kubernetes.io/token')
})

test('tokens are listed without their secrets, and deleted by their id or text', async () => {
  const made = await typed(['token', 'create', '--ttl', '0s', '--description', 'for\nrack 7', '--pinned'])
  match(made.printed, /^K10[0-9a-f]{64}::[a-z0-9]{6}\.[a-z0-9]{16}\n$/)
  const [id = '', secretText = ''] = made.printed.slice(69).trim().split('.')
  const { printed } = await typed(['token', 'list'])
  const [head = '', ...rows] = printed.trimEnd().split('\n')
  match(head, /^ID {7}TTL {2,}EXPIRES {2,}USAGES {2,}DESCRIPTION {2,}EXTRA GROUPS$/)
  match(
    rows.find((row) => row.startsWith(id)) ?? '',
    /^\S+ {3}<forever> {3}<never> {2,}authentication,signing {3}for rack 7 {2,}<none>$/,
  )
  equal(printed.includes(secretText), false)
  deepEqual(await typed(['token', 'delete', made.printed.trim()]), {
    code: 0,
    printed: `bootstrap token "${id}" deleted\n`,
    complained: '',
  })
  equal((await typed(['token', 'list'])).printed.includes(id), false)
  const again = await typed(['token', 'delete', id])
  deepEqual([again.code, again.complained], [1, `coxswain token: there is no token "${id}"\n`])
})

test('lab lists the situations, one per line, and says how to start one', async () => {
  const { code, printed } = await typed(['lab'])
  equal(code, 0)
  const [list = '', how] = printed.split('\n\n')
  equal(how, 'coxswain lab <situation> starts a simulated cluster in that situation. You repair it with kubectl.\n')
  deepEqual(
    list.split('\n').map((line) => line.replace(/ {2,}/, ': ')),
    situations.map(({ name, story }) => `${name}: ${story}`),
  )
})

test('down in a directory where nothing runs', async () => {
  const data = ['--data-dir', directory]
  for (const words of [['down'], ['stop'], ['down', '--containers']])
    deepEqual(await typed([...words, ...data]), { code: 0, printed: `Nothing runs in ${directory}.\n`, complained: '' })
})

test('version prints the versions', async () => {
  const { code, printed } = await typed(['version'])
  equal(code, 0)
  match(printed, /^coxswain \d\S+, Kubernetes v1\.\d+\.\d+, Node\.js v\d\S+\n$/)
  deepEqual(await typed(['--version']), { code, printed, complained: '' })
})

test('a DNS server says where it serves, and ends with its signal', async () => {
  const argv = ['dns', '--port', '0', '--metrics-port', '0', '--resolv-conf', '', '--cluster-domain', 'Ship.Local.']
  const { code, printed } = await typed(argv, 'serving')
  equal(code, 0)
  match(printed, /^serving ship\.local on 127\.0\.0\.1 port \d+\n$/)
})

test('a lab shows its story and how to reach the cluster; its end without a repair is a failure', async () => {
  const { code, printed } = await typed(['lab', 'wrong-selector'], 'Type hint')
  equal(code, 1)
  match(printed, /^Connections to the Service web are refused\.\n[^]* {2}export KUBECONFIG=\S+kubeconfig\n/)
})

test('a kubelet without a kubeconfig says what is missing', async () => {
  const { code, complained } = await typed(['kubelet', '--runtime', 'simulated', '--data-dir', join(directory, 'node')])
  equal(code, 1)
  match(complained, /kubelet\.kubeconfig/)
})
