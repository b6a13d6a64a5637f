// A load of wrk: its Lua script, one run of it, and what it measured.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** NAME in a path or a body becomes a new name; INDEX becomes a number below `objects`. */
export interface WrkRequest {
  readonly method: 'GET' | 'PATCH' | 'POST'
  readonly path: string
  readonly body?: object
  /** The default is JSON. */
  readonly contentType?: string
  readonly objects?: number
}

export interface WrkTarget {
  readonly origin: string
  readonly token: string
  readonly connections: number
  readonly seconds: number
  /** For the script. */
  readonly folder: string
}

export interface WrkFigures {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
}

/** Headers of a request replace those of the command line. */
const scriptOf = ({ method, path, body, contentType = 'application/json', objects = 1 }: WrkRequest): string => `
local prefix = tostring({}):sub(-8) .. "-" .. os.time()
local count = 0
local headers = {}
function init()
  headers["Authorization"] = wrk.headers["Authorization"]
  ${body === undefined ? '' : `headers["Content-Type"] = "${contentType}"`}
end
local function fill(text)
  return (text:gsub("NAME", prefix .. "-" .. count):gsub("INDEX", count % ${objects}))
end
function request()
  count = count + 1
  return wrk.format("${method}", fill(${JSON.stringify(path)}), headers, ${body === undefined ? 'nil' : `fill(${JSON.stringify(JSON.stringify(body))})`})
end
function done(summary, latency)
  local errors = summary.errors
  print(string.format("measured %d %d %d %d %d", summary.requests, errors.status + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
`

/** One run. A response that is not a success ends the benchmark. */
export async function runWrk(request: WrkRequest, target: WrkTarget): Promise<WrkFigures> {
  const { origin, token, connections, seconds, folder } = target
  const script = join(folder, 'load.lua')
  await writeFile(script, scriptOf(request))
  const { stdout } = await run('wrk', [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '-s', script, '--timeout', '30s'],
    ...['-H', `Authorization: Bearer ${token}`, origin],
  ])
  const measured = /measured (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(stdout)?.slice(1).map(Number) ?? []
  const [requests = 0, failed = 0, p50 = 0, p99 = 0, p999 = 0] = measured
  if (failed > 0 || requests === 0) throw new Error(`${request.method} ${request.path}: ${stdout}`)
  return { requests, perSecond: requests / seconds, p50Ms: p50 / 1000, p99Ms: p99 / 1000, p999Ms: p999 / 1000 }
}
