// Programs that other people have written: curl, kubectl, wrk and h2load.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { originOf } from '../../access.ts'
import { kubectls, runKubectl, type Kubectl } from '../../kubectl.ts'
import { configMaps, exchangeOf, namespace, storedName, storedObjects, type Exchange } from './exchange.ts'
import type { Stack, Target } from './stack.ts'

const run = promisify(execFile)

const requestsPerCurl = 400
const curlAtOnce = 16

/** A request as lines of a configuration file of curl. */
const curlLines = ({ method, path, contentType, body }: Exchange, origin: string, file: string): string =>
  [
    `url = "${origin}${path}"`,
    `request = "${method}"`,
    `output = "${file}.out"`,
    `write-out = "%{http_code} ${file}\\n"`,
    ...(body === '' ? [] : [`header = "Content-Type: ${contentType}"`, `data-binary = "@${file}.in"`]),
  ].join('\n')

async function runCurl({ access, folder }: Target, version: string, from: number, count: number): Promise<void> {
  const own = join(folder, `curl-${version}-${from}`)
  await mkdir(own)
  const exchanges = Array.from({ length: count }, (_, at) => exchangeOf(from + at))
  const files = exchanges.map((_, at) => join(own, String(at)))
  const keys = { ca: 'cacert', cert: 'cert', key: 'key' } as const
  const credentials = Object.entries(keys).map(([name, option]) => `${option} = "${join(folder, `${name}.pem`)}"`)
  for (const [at, { body }] of exchanges.entries()) if (body !== '') await writeFile(`${files[at]}.in`, body)
  const blocks = exchanges.map((exchange, at) =>
    [...credentials, version, curlLines(exchange, originOf(access), files[at] as string)].join('\n'),
  )
  await writeFile(join(own, 'config'), blocks.join('\nnext\n'))
  const parallel = ['--parallel', '--parallel-max', String(curlAtOnce)]
  const { stdout } = await run('curl', ['--silent', '--show-error', ...parallel, '--config', join(own, 'config')])
  const statuses = new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ').toReversed() as [string, string]),
  )
  equal(statuses.size, count)
  for (const [at, { check }] of exchanges.entries()) {
    const file = files[at] as string
    check(Number(statuses.get(file)), await readFile(`${file}.out`, 'utf8'))
  }
  await rm(own, { recursive: true })
}

const curl = (version: 'http1.1' | 'http2'): Stack => ({
  name: `curl, ${version}`,
  part: 0.015,
  async run(target, count) {
    for (let from = 0; from < count; from += requestsPerCurl)
      await runCurl(target, version, from, Math.min(requestsPerCurl, count - from))
    return { answered: count, left: 0 }
  },
})

const kubectl: Stack = {
  name: 'kubectl',
  part: 0.005,
  async run({ kubeconfig }, count) {
    const newest = kubectls().at(-1) as Kubectl
    const printed = async (args: readonly string[], input = '') => {
      const { code, out, err } = await runKubectl(newest, kubeconfig, [...args, '-n', namespace, '-o', 'name'], {
        input,
      })
      deepEqual([code, err], [0, ''])
      return out.trim().split('\n')
    }
    const rounds = Math.ceil(count / (2 * storedObjects))
    for (let round = 0; round < rounds; round++) {
      const stored = Array.from({ length: storedObjects }, (_, index) => storedName(index))
      const created = stored.map((name) => `${name}-${round}`)
      const items = created.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }))
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
      const full = (names: readonly string[]) => names.map((name) => `configmap/${name}`)
      deepEqual(await printed(['get', 'configmap', ...stored]), full(stored))
      deepEqual(await printed(['create', '--dry-run=server', '-f', '-'], list), full(created))
    }
    return { answered: rounds * 2 * storedObjects, left: 0 }
  },
}

/** wrk and h2load have no client certificates. */
const withToken = (token: string): string => `Authorization: Bearer ${token}`

/** wrk stops at a time, not at a number; it is started until the number is reached. */
const wrkSeconds = 5
const wrkConnections = 32

const wrk: Stack = {
  name: 'wrk',
  part: 0.45,
  async run({ access, folder, token }, count) {
    const script = join(folder, 'wrk.lua')
    await writeFile(script, wrkScript)
    let answered = 0
    let runs = 0
    for (; answered < count; runs++) {
      const args = ['-t', '1', '-c', String(wrkConnections), '-d', `${wrkSeconds}s`, '--timeout', '60s']
      const { stdout } = await run('wrk', [...args, '-s', script, '-H', withToken(token), originOf(access)])
      const summary = /^counted requests (\d+) bad (\d+) connect (\d+) read (\d+) write (\d+) timeout (\d+)$/m.exec(
        stdout,
      )
      const [requests, ...failed] = summary?.slice(1).map(Number) ?? []
      deepEqual(failed, [0, 0, 0, 0, 0], stdout)
      answered += requests ?? 0
    }
    // At the end of its time it leaves a request on each connection.
    return { answered, left: runs * wrkConnections }
  },
}

/** Reads and creates in turn; a response is one of the four that the requests can have. */
const wrkScript = `
local index = 0
local bad = 0
-- Headers of a request replace those of the command line.
local token
function init() token = wrk.headers["Authorization"] end
function request()
  index = index + 1
  if index % 2 == 0 then return wrk.format("GET", "${configMaps}/stored-" .. index % ${storedObjects}) end
  local body = '{"metadata":{"name":"wrk-' .. index .. '"},"data":{"padding":"' .. string.rep("w", index % 200) .. '"}}'
  local headers = { ["Content-Type"] = "application/json", ["Authorization"] = token }
  return wrk.format("POST", "${configMaps}?dryRun=All", headers, body)
end
function response(status, headers, body)
  local created = status == 201 and string.find(body, '"name":"wrk-', 1, true)
  local stored = status == 200 and string.find(body, '"name":"stored-', 1, true)
  if not created and not stored then bad = bad + 1 end
  -- Globals of a thread can be read at the end, locals cannot.
  badResponses = bad
end
local threads = {}
function setup(thread) table.insert(threads, thread) end
function done(summary)
  local all = 0
  for _, thread in ipairs(threads) do all = all + (thread:get("badResponses") or 0) end
  local errors = summary.errors
  print(string.format("counted requests %d bad %d connect %d read %d write %d timeout %d", summary.requests,
    all, errors.connect, errors.read, errors.write, errors.timeout))
end
`

const h2load: Stack = {
  name: 'h2load',
  part: 0.25,
  async run({ access, folder, token }, count) {
    const list = join(folder, 'h2load.txt')
    const paths = Array.from(
      { length: storedObjects },
      (_, index) => `${originOf(access)}${configMaps}/${storedName(index)}`,
    )
    await writeFile(list, paths.join('\n'))
    const args = ['-n', String(count), '-c', '4', '-m', '16', '-t', '1', '-H', withToken(token), '-i', list]
    const { stdout } = await run('h2load', args)
    ok(
      stdout.includes(
        `${count} total, ${count} started, ${count} done, ${count} succeeded, 0 failed, 0 errored, 0 timeout`,
      ),
      stdout,
    )
    ok(stdout.includes(`status codes: ${count} 2xx, 0 3xx, 0 4xx, 0 5xx`), stdout)
    return { answered: count, left: 0 }
  },
}

export const programs: readonly Stack[] = [curl('http1.1'), curl('http2'), kubectl, wrk, h2load]
