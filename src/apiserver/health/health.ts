// Health endpoints: /livez, /readyz and /healthz, and each check as a path of its own, with upstream's messages.
import type { HealthCheckMetrics } from '../../base/observability/health-check-metrics.ts'
import type { ApiResponse } from '../request/response.ts'
import { pathNotFound } from '../../api/errors/status-error.ts'

export interface HealthCheck {
  readonly name: string
  /** Throws or rejects when the check fails. */
  check(signal: AbortSignal): void | Promise<void>
}

export type HealthPath = 'healthz' | 'livez' | 'readyz'

export const isHealthPath = (name: string | undefined): name is HealthPath =>
  name === 'healthz' || name === 'livez' || name === 'readyz'

/** `one` is the name of a single check. */
export async function healthResponse(
  path: HealthPath,
  one: string | undefined,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
  metrics: HealthCheckMetrics,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const passes = async (check: HealthCheck) => {
    const passed = await succeeds(check, signal)
    metrics.record(check.name, path, passed)
    return passed
  }
  if (one !== undefined) {
    const check = checks.find(({ name }) => name === one)
    if (check === undefined) throw pathNotFound()
    return (await passes(check)) ? text(200, 'ok') : text(500, 'internal server error: reason withheld\n')
  }
  const excluded = new Set(query.getAll('exclude'))
  let allWell = true
  const lines: string[] = []
  for (const check of checks) {
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`)
      continue
    }
    const well = await passes(check)
    allWell &&= well
    lines.push(well ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`)
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(', ')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  if (allWell && !query.has('verbose')) return text(200, 'ok')
  lines.push(`${path} check ${allWell ? 'passed' : 'failed'}`)
  return text(allWell ? 200 : 500, `${lines.join('\n')}\n`)
}

async function succeeds({ check }: HealthCheck, signal: AbortSignal): Promise<boolean> {
  try {
    await check(signal)
    return true
  } catch {
    return false
  }
}

const text = (status: number, body: string): ApiResponse => ({ kind: 'text', status, text: body })
