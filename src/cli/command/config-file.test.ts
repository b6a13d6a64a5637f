import { deepEqual, equal, rejects } from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { commands } from '../commands.ts'
import { agent } from '../commands/agent.ts'
import { proxy } from '../commands/proxy.ts'
import { up } from '../commands/up.ts'
import { run } from '../run.ts'
import { namedConfigFile, parseCommand } from './command.ts'
import { configFileFlags, thisProcess } from './config-file.ts'

let folder = ''
before(async () => (folder = await mkdtemp(join(tmpdir(), 'coxswain-config-'))))
after(() => rm(folder, { recursive: true }))

async function fileOf(text: string, mode = 0o600): Promise<string> {
  const path = join(folder, 'config.yaml')
  await writeFile(path, text)
  await chmod(path, mode)
  return path
}

const valid: [what: string, text: string, flags: Record<string, string | boolean>][] = [
  ['an empty file', '', {}],
  ['comments only', '# nothing yet\n', {}],
  [
    'texts and numbers as they are written',
    'bind: 192.0.2.1\nport: 06443\nname: "1.10"\n',
    { bind: '192.0.2.1', port: '06443', name: '1.10' },
  ],
  ['true and false', 'verbose: true\ndetach: false\n', { verbose: true }],
  ['lists of flags that may be repeated', 'tls-san:\n- a.example\n- 192.0.2.1\n', { 'tls-san': 'a.example,192.0.2.1' }],
  ['one value of such a flag', 'tls-san: a.example\n', { 'tls-san': 'a.example' }],
]
for (const [what, text, flags] of valid)
  test(`a file of flags: ${what}`, async () =>
    deepEqual(await configFileFlags(up, await fileOf(text), thisProcess), flags))

test('flags that take a list accept one', async () =>
  deepEqual(await configFileFlags(agent, await fileOf('node-labels: [disk=ssd, zone=a]'), thisProcess), {
    'node-labels': 'disk=ssd,zone=a',
  }))

const invalid: [what: string, text: string, error: RegExp][] = [
  ['an unknown key', 'prot: 1\n', /config\.yaml: unknown key "prot"; did you mean port\?/],
  [
    'a key that resembles none',
    'qqqqqqqqqq: 1\n',
    /config\.yaml: unknown key "qqqqqqqqqq"; see: coxswain up --help-all/,
  ],
  ['a key of every object', 'constructor: 1\n', /unknown key "constructor"/],
  ['another file', 'config: a\n', /unknown key "config"/],
  ['a key with dashes', '--port: 1\n', /unknown key "--port"/],
  ['a list of flags', '- port\n', /it is no map of flags/],
  ['a text', 'port\n', /it is no map of flags/],
  ['a list for a flag with one value', 'port: [1, 2]\n', /"port" must have one value/],
  ['a map', 'port: { a: b }\n', /"port" must have one value/],
  ['no value', 'port:\n', /"port" must have one value/],
  ['a map in a list', 'tls-san: [{ a: b }]\n', /"tls-san" must have a value or a list of values/],
  ['a switch with another value', 'verbose: 1\n', /"verbose" must be true or false/],
  ['a key twice', 'port: 1\nport: 2\n', /config\.yaml: Map keys must be unique/],
  ['no YAML', 'port: [\n', /config\.yaml: /],
  ['a long file', `# ${'x'.repeat(1 << 20)}`, /it has more than 1048576 bytes/],
]
for (const [what, text, error] of invalid)
  test(`a file of flags that is rejected: ${what}`, async () =>
    rejects(configFileFlags(up, await fileOf(text), thisProcess), error))

test('a file that is named must exist', () =>
  rejects(configFileFlags(up, '/none', thisProcess), /^UsageError: \/none: ENOENT/))

test('the file of the machine is read for root only, and must be writable for root only', async () => {
  const machinePath = await fileOf('port: 1\n')
  const isRoot = process.getuid?.() === 0
  const asRoot = { userId: 0, machinePath }
  const mine = configFileFlags(up, undefined, asRoot)
  if (isRoot) deepEqual(await mine, { port: '1' })
  else await rejects(mine, /others than root may write to it/)
  deepEqual(await configFileFlags(up, undefined, { userId: 1000, machinePath }), {})
  deepEqual(await configFileFlags(proxy, undefined, asRoot), {}, 'it is for commands that run a machine')
  await chmod(machinePath, 0o666)
  await rejects(configFileFlags(up, undefined, asRoot), /others than root may write to it; run: chown root, chmod 600/)
  deepEqual(await configFileFlags(up, undefined, { userId: 0, machinePath: join(folder, 'none') }), {})
  await rejects(configFileFlags(up, undefined, { userId: 0, machinePath: join(machinePath, 'x') }), /ENOTDIR/)
})

test('the command line has precedence; flags that depend on others are checked together', () => {
  const configured = { port: '1', detach: true }
  equal(namedConfigFile(up, ['--config', 'a', '--port', '2']), 'a')
  equal(namedConfigFile(up, []), undefined)
  deepEqual(parseCommand(up, ['--config', 'a', '--port', '2', '--wait'], configured).options, {
    port: '2',
    detach: true,
    wait: true,
  })
})

test('the options of a command come from its file', async () => {
  const path = await fileOf('runtime: docker\n')
  const { signal } = new AbortController()
  let printed = ''
  const write = (text: string) => void (printed += text)
  const terminal = { out: write, err: write, isTerminal: false, environment: {}, signal, startedMs: 0 }
  equal(await run(commands, ['up', '--config', path], terminal), 2)
  equal(printed, 'coxswain up: --runtime "docker" is none of auto, containerd, simulated, none\n')
})

test('every command with a file of flags has --config', () => {
  for (const { name, options, configFile } of commands)
    if (configFile !== undefined) equal(options['config']?.value, '<file>', name)
})
