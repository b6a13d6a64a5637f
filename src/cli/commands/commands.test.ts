// The commands: rejected arguments, and the output of up.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { commands } from '../commands.ts'
import { run } from '../run.ts'

interface Typed {
  readonly code: number
  readonly printed: string
  readonly complained: string
}

/** Runs a command. `onPrint` gets the output so far and may abort as Ctrl-C does. */
async function typed(
  argv: string[],
  onPrint: (printed: string, interrupt: () => void) => void = () => {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Typed> {
  const controller = new AbortController()
  let printed = ''
  let complained = ''
  const code = await run(commands, argv, {
    out(text) {
      printed += text
      onPrint(printed, () => controller.abort())
    },
    err: (text) => void (complained += text),
    isTerminal: true,
    environment: { NO_COLOR: '1', ...environment },
    signal: controller.signal,
    startedMs: 0,
  })
  return { code, printed, complained }
}

const mistakes: [argv: string[], message: RegExp][] = [
  [['server', '--init', '--join', 'https://a:1'], /--init and --join exclude one another/],
  [['server', '--token', 'x'], /--token needs --join/],
  [['server', '--token-file', 'x'], /--token-file needs --join/],
  [
    ['server', '--join', 'https://a:1', '--token', 'x', '--token-file', 'x'],
    /--token and --token-file exclude one another/,
  ],
  [['server', '--join', 'https://a:1', '--token-file', '/none'], /cannot read --token-file \/none/],
  [['server', '--join', 'https://a:1'], /--join needs --token <token> or --token-file/],
  [['server', '--join', 'a', '--token', 'x'], /--join "a" is not an address such as https/],
  [['server', '--join', 'https://a:1', '--token', 'x'], /--token has none of the forms/],
  [['server', '--init', '--store', 'sqlite'], /--store sqlite: the servers of a control plane share an etcd/],
  [['member'], /the operands are: list\|remove <name>\|defragment/],
  [['member', 'remove'], /the operands are: list\|remove <name>/],
  [['member', 'list', 'a'], /the operands are: list\|remove <name>/],
  [['rotate'], /the operand is what to rotate: ca, service-account-key or encryption-key/],
  [['rotate', 'keys'], /the operand is what to rotate: ca, service-account-key or encryption-key/],
  [['rotate', 'service-account-key', '--force'], /--force has no effect without --retire/],
  [['token', 'list', '--data-dir', '/none'], /cannot read the kubeconfig \/none\/admin\.kubeconfig/],
  [['token', 'list', '--name', 'none'], /cannot read the kubeconfig \S+-clusters\/none\/admin\.kubeconfig/],
  [['token', 'list', '--data-dir', 'x', '--server'], /--server is a flag of: coxswain token create/],
  [['token', 'create', '--server', '--ttl', '0s'], /--ttl 0s: a token for servers is valid for 24h at most/],
  [['token', 'create', '--server', '--ttl', '25h'], /--ttl 25h: a token for servers is valid for 24h at most/],
  [['up', '--store', 'disk'], /--store disk is none of memory, sqlite, etcd=<urls>/],
  [['up', '--store', 'etcd=x'], /--store etcd: "x" is not like https:\/\/10\.0\.0\.1:2379/],
  [['up', '--store', 'etcd=http://10.0.0.1:2379'], /without TLS only an etcd on this machine is used/],
  [['up', '--store', 'etcd=https://a:1', '--etcd-keyfile', 'x'], /--etcd-certfile and --etcd-keyfile belong together/],
  [['up', '--runtime', 'docker'], /--runtime "docker" is none of auto, containerd, simulated, none/],
  [['up', 'now'], /unexpected argument "now"/],
  [['up', '--nodes', '-1'], /--nodes needs a value: --nodes=<n>/],
  [['up', '--nodes=-1'], /--nodes "-1" is not a number from 0 to 5000/],
  [['up', '--nodes', 'many'], /--nodes "many" is not a number from 0 to 5000/],
  [['up', '--port', '70000'], /--port "70000" is not a number from 0 to 65535/],
  [['flow'], /name one object: <kind>\/<name> or <kind> <name>/],
  [['flow', 'deployment'], /name one object: <kind>\/<name> or <kind> <name>/],
  [['flow', 'pod/a/b'], /name one object: <kind>\/<name> or <kind> <name>/],
  [['flow', 'pod/a', 'b'], /name one object/],
  [['flow', 'pod', 'a', 'b'], /unexpected argument "b"/],
  [['why', 'deployment/a', '--reach', 'pod/b:80'], /--reach explains what one pod reaches: coxswain why pod\/<name>/],
  [['why', 'pod/a', '--reach', 'b'], /--reach "b" is none of pod\/<name>:<port>, /],
  [['up', '--audit-policy-file', 'p'], /--audit-policy-file has no effect without --audit-log-path or/],
  [['flow', 'pod/a', '--format', 'svg'], /--output svg is none of text, tree, mermaid, json/],
  [['flow', 'pod/a', '-o', 'svg'], /--output svg is none of text, tree, mermaid, json/],
  [['flow', 'pod/a', '-A', '-w'], /--watch follows one object; name its namespace/],
  [['flow', 'pod/a', '--format', 'tree', '--follow'], /--watch draws text, mermaid and json, not tree/],
  [['reset', '--store', 'sqlite'], /--store of reset names an etcd/],
  [['up', '--name', 'My Cluster'], /--name "My Cluster" must consist of/],
  [['up', '--tls-san', 'a.example,not_a_name'], /--tls-san "not_a_name" is neither a DNS name nor an IP address/],
  [['image'], /name what to do: load or list/],
  [['image', 'pull'], /name what to do: load or list/],
  [['image', 'list', 'all'], /list takes no "all"/],
  [['image', 'load'], /name images of Docker, or archives as docker save writes them/],
  [['image', 'load', 'app.tar'], /there is no file app\.tar/],
  [['image', 'load', 'a b'], /there is no file a b/],
  [['image', 'load', '/none.tar'], /there is no file \/none\.tar/],
  [['snapshot'], /name the file to write/],
  [['restore'], /name the file of the snapshot/],
  [['flow', 'pod/a', '--kubeconfig', '/none'], /cannot read the kubeconfig \/none/],
  [['dns'], /name a kubeconfig with --kubeconfig or \$KUBECONFIG/],
  [['dns', '--kubeconfig', '/none'], /cannot read the kubeconfig \/none/],
  [['dns', '--kubeconfig', '/none', '--bind-address', 'localhost'], /--bind-address "localhost" is not an IP address/],
  [['dns', '--kubeconfig', '/none', '--port', '70000'], /--port "70000" is not a number from 0 to 65535/],
  [['dns', '--kubeconfig', '/none', '--cluster-domain', '.'], /--cluster-domain "\." is not a domain/],
  [['announcer'], /name the addresses with --load-balancer-addresses/],
  [['announcer', '--load-balancer-addresses', '10.0.0.1'], /name a kubeconfig with --kubeconfig or \$KUBECONFIG/],
  [['announcer', '--load-balancer-addresses', 'here'], /--load-balancer-addresses: "here" is neither an address/],
  [['cloud-controller-manager'], /name the socket of the provider with --cloud-provider-socket/],
  [
    ['cloud-controller-manager', '--cloud-provider-socket', '/s', '--leader-elect', 'maybe'],
    /--leader-elect "maybe" is neither true nor false/,
  ],
  [['proxy'], /name a kubeconfig with --kubeconfig or \$KUBECONFIG/],
  [['proxy', '--kubeconfig', '/none'], /cannot read the kubeconfig \/none/],
  [
    ['proxy', '--kubeconfig', '/none', '--bind-address', 'localhost'],
    /--bind-address "localhost" is not an IP address/,
  ],
  [
    ['proxy', '--kubeconfig', '/none', '--nodeport-addresses', 'primary,10.0.0.0/8'],
    /--nodeport-addresses "primary" is not a range of addresses/,
  ],
  [
    ['proxy', '--kubeconfig', '/none', '--cluster-cidr', '10.244.0.0/16,10.0.0.0/33'],
    /--cluster-cidr "10\.0\.0\.0\/33" is not a range of addresses/,
  ],
  [
    ['proxy', '--kubeconfig', '/none', '--healthz-bind-address', '10256'],
    /--healthz-bind-address "10256" is not address:port/,
  ],
  [
    ['proxy', '--kubeconfig', '/none', '--healthz-bind-address', '[::1]:65536'],
    /--healthz-bind-address "\[::1\]:65536" is not address:port/,
  ],
  [
    ['proxy', '--kubeconfig', '/none', '--metrics-bind-address', '::1:10249'],
    /--metrics-bind-address "::1:10249" is not address:port/,
  ],
  [['kwok'], /name a kubeconfig with --kubeconfig or \$KUBECONFIG/],
  [['kwok', '--cidr', 'x'], /--cidr "x" is not a range/],
  [['kwok', '--node-ip', 'x'], /--node-ip "x" is not an address/],
  [['kwok', '--config', '/none.yaml'], /cannot read the configuration \/none\.yaml/],
  [
    ['kwok', '--manage-all-nodes', '--manage-nodes-with-label-selector', 'a=b'],
    /name the nodes with one of the flags --manage-…/,
  ],
  [['up', '--kubelet-port', '70000'], /--kubelet-port "70000" is not a number from 0 to 65535/],
  [['up', '--runtime', 'docker'], /--runtime "docker" is none of auto, containerd, simulated, none/],
  [['scheduler'], /name a kubeconfig with --kubeconfig or \$KUBECONFIG/],
  [['scheduler', '--kubeconfig', '/none'], /cannot read the kubeconfig \/none/],
  [['scheduler', '--kubeconfig', '/none', '--secure-port', 'x'], /--secure-port "x" is not a number from 0 to 65535/],
  [['lab', 'crash-lop'], /unknown situation "crash-lop"; did you mean crash-loop\?/],
  [['why', 'deployment'], /name one object: <kind>\/<name> or <kind> <name>/],
  [['why', 'pod/a', '--format', 'svg'], /--output svg is none of text, json/],
  [['why', 'pod/a', '--kubeconfig', '/none'], /cannot read the kubeconfig \/none/],
]
for (const [argv, message] of mistakes)
  test(`coxswain ${argv.join(' ')} is refused`, async () => {
    const { code, complained } = await typed(argv)
    equal(code, 2)
    match(complained, message)
  })

test('a kubeconfig without a context is named as such', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-cli-'))
  await writeFile(join(directory, 'config'), 'server: https://127.0.0.1:1\n')
  const nowhere = ['--healthz-bind-address', '', '--metrics-bind-address', '']
  const named: string[][] = [
    ['flow', 'pod/a'],
    ['announcer', '--load-balancer-addresses', '10.0.0.1'],
    ['proxy', '--verbose'],
    ['proxy', '--hostname-override', 'a', '--bind-address', '::1', '--cluster-cidr', '10.244.0.0/16', ...nowhere],
  ]
  for (const argv of named) {
    const { code, complained } = await typed([...argv, '--kubeconfig', join(directory, 'config')])
    deepEqual([code, complained], [1, `coxswain ${argv[0]}: the kubeconfig has no context ""\n`])
  }
  await rm(directory, { recursive: true })
})

async function phraseFile(directory: string): Promise<string> {
  await writeFile(join(directory, 'passphrase'), 'correct horse\n')
  return join(directory, 'passphrase')
}

test('up reports what runs, what is stored and the next commands; other commands work with its cluster', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-cli-'))
  const kubeconfig = join(directory, 'kubeconfig')
  const copy = join(directory, 'copy')
  const data = ['--data-dir', directory]
  const start = async () => {
    const isUp = Promise.withResolvers<() => void>()
    const ended = typed(
      ['up', '--runtime', 'simulated', '--port', '0', '--kubeconfig', kubeconfig, ...data],
      (printed, interrupt) => {
        if (printed.includes('Ctrl-C')) isUp.resolve(interrupt)
      },
    )
    return { interrupt: await isUp.promise, ended }
  }
  const { interrupt, ended } = await start()
  const ask = (...argv: string[]) => typed([...argv, '--kubeconfig', kubeconfig])
  match((await ask('flow', 'ns/default')).printed, /API Server\n[^]*│═══►│ {2}put \d+ bootstrap objects @\d+\n/)
  match((await ask('flow', 'ns/default', '--format', 'mermaid')).printed, /^sequenceDiagram\n {2}participant p0/)
  match(
    (await ask('flow', 'ns/default', '--format', 'tree')).printed,
    /API Server ══► Store: put \d+ bootstrap objects @\d+\n.*API Server ··· API Server: make namespace default/,
  )
  const json = await ask('flow', 'ns/default', '--format', 'json')
  deepEqual(
    (JSON.parse(json.printed) as { event: { what: string } }[])[0]?.event.what.replace(/\d+/, 'n'),
    'put n bootstrap objects',
  )
  const followed: [format: string, first: RegExp][] = [
    ['text', /^ +API Server\n/],
    ['mermaid', /^sequenceDiagram\n {2}participant p0 as API Server\n/],
    ['json', /^\{"event":\{"id":\d+,.*\}\n/],
  ]
  for (const [format, first] of followed) {
    const { code: exitCode, printed: drawn } = await typed(
      ['flow', 'ns/default', '--follow', '--format', format, '--kubeconfig', kubeconfig],
      (soFar, leave) => soFar.includes('make namespace') && leave(),
    )
    equal(exitCode, 0)
    match(drawn, first)
  }
  const byRule = await ask('flow', 'svc/kubernetes', '--rules')
  match(byRule.printed, /create services kubernetes → 201 {2}\(the group system:masters may do everything\)/)
  match((await ask('flow', 'pod/none')).complained, /pod "none" not found in namespace "default"/)
  equal(
    (await ask('why', 'ns/default')).printed,
    'namespace/default\n  No problem found. Checked: its conditions, warning events, failed requests.\n',
  )
  match((await ask('why', 'pod/none')).complained, /pod "none" not found in namespace "default"/)
  match(
    (await typed(['snapshot', copy, ...data])).printed,
    /holds the cluster of \S+ as it is now\.\nIt is not encrypted, and contains every Secret\. The keys of the cluster .* are omitted[^]*\nThe content of volumes is not included\. --volumes includes that of the class local-path on this machine\.\n/,
  )
  match(
    (await typed(['snapshot', copy, '--force', '--volumes', ...data])).printed,
    /\nThis machine has no volumes of the class local-path\. Volumes of other classes and of other machines are not included\.\n/,
  )
  match(
    (await typed(['snapshot', copy, ...data])).complained,
    /is already there; choose another file, or replace it with --force/,
  )
  match(
    (await typed(['snapshot', copy, '--force', '--passphrase-file', await phraseFile(directory), ...data])).printed,
    /It is encrypted with the passphrase, and includes the CAs/,
  )
  match((await typed(['reset', '--yes', ...data])).complained, /is in use by process \d+/)
  interrupt()
  const { code, printed } = await ended
  equal(code, 0)
  match(printed, /^ready in \d+ ms at https:\/\/127\.0\.0\.1:\d+\n/)
  match(printed, /nodes +1 simulated/)
  const stopped = await typed(['status', ...data])
  deepEqual(
    [stopped.code, stopped.printed.split('\n')[0]],
    [3, `not running; start it: coxswain up --data-dir ${data[1]}`],
  )
  match(
    (await typed(['restore', copy, ...data])).complained,
    /is encrypted; name its passphrase with --passphrase-file/,
  )
  match(
    (await typed(['restore', copy, '--passphrase-file', await phraseFile(directory), ...data])).printed,
    /^\S+ holds the cluster of \S+copy, taken at \S+\.\nThe previous content is kept: \S+store\.db\.before-restore, \S+pki\.before-restore\.\nIts CAs and its key of ServiceAccount tokens are those of the snapshot: .*\nThe content of volumes is not in the snapshot\.\nStart it: coxswain up --data-dir \S+\nOr as the first of several servers: coxswain server --init --bind <address> --data-dir \S+\n$/,
  )
  const asked = await typed(['reset', ...data])
  deepEqual(
    [asked.code, asked.complained],
    [
      2,
      `coxswain reset: everything of the cluster in ${directory} would be removed, its entries in ${kubeconfig}; use --yes\n`,
    ],
  )
  equal(
    (await typed(['reset', '--yes', ...data])).printed,
    `The entries of the cluster in ${kubeconfig} are removed.\nThe cluster is removed from ${directory}.\nNot part of the cluster, and still there: copy, passphrase.\n`,
  )
  match((await typed(['reset', '--yes', ...data])).complained, /is not a data directory of coxswain/)
  await rm(directory, { recursive: true })
})

test('status describes a running cluster', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-cli-'))
  const isUp = Promise.withResolvers<() => void>()
  const ended = typed(['apiserver', '--port', '0', '--data-dir', directory], (printed, interrupt) => {
    if (printed.includes('kubeconfigs')) isUp.resolve(interrupt)
  })
  const interrupt = await isUp.promise
  const { code, printed } = await typed(['status', '--data-dir', directory])
  // Before the assertions: a server that is left running keeps the test process alive.
  interrupt()
  equal((await ended).code, 0)
  await rm(directory, { recursive: true })
  equal(code, 0)
  match(
    printed,
    /^running, process \d+\n {2}data .*\n {2}store +SQLite, [\d.]+ MB\n {2}api +https:.*\n {2}version +Coxswain \S+, Kubernetes v1\.36\.\d+, Node\.js v\S+\n {2}store latency +(\d+ reads \(.* ms on average\), )?\d+ writes \(.*\)\n {2}nodes +0 of 0 ready\n {2}pods +none\n {2}process +\d+ MB of memory, event loop delay \d+ ms .*, \d+ open files\n {2}certificates +\S+ +until \d{4}-\d\d-\d\d, 36\d days left\n/,
  )
  match(printed, / admin +until .*, 36\d days left\n/)
  match(printed, / apiserver +until .*, 36\d days left\n/)
  match(printed, / ca +until .*, 36\d\d days left\n/)
})

test('images are loaded only where containerd runs', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-cli-'))
  const archive = join(directory, 'a.tar')
  await writeFile(archive, '')
  const own = await typed(['image', 'load', archive, '--data-dir', directory])
  equal(own.code, 1)
  match(
    own.complained,
    /^coxswain image: no containerd runs at \S+containerd\.sock for the cluster; start it as root: /,
  )
  // The archive stands for a socket that exists: Docker is asked before containerd.
  const load = ['image', 'load', 'app:1', '--container-runtime-endpoint', `unix://${archive}`]
  const dockerless = await typed(load, undefined, { DOCKER_HOST: `unix://${directory}/docker.sock` })
  equal(dockerless.code, 1)
  match(
    dockerless.complained,
    /^coxswain image: no Docker daemon runs at \S+\/docker\.sock; start it, set DOCKER_HOST /,
  )
  match(
    (await typed(load, undefined, { DOCKER_HOST: 'tcp://10.0.0.1' })).complained,
    /DOCKER_HOST tcp:\S+ is not a Unix socket/,
  )
  const other = await typed(['image', 'list', '--container-runtime-endpoint', `unix://${directory}/none.sock`])
  deepEqual([other.code, other.complained], [1, `coxswain image: no containerd runs at ${directory}/none.sock\n`])
  await rm(directory, { recursive: true })
})
