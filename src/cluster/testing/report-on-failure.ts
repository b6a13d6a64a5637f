// Helpers that write the report of a cluster when a test fails, for node:test, Vitest, Jest and others.
import { errorText } from '../../base/observability/log.ts'
import { startCluster, type StartClusterOptions } from './start-cluster.ts'
import type { TestCluster } from './test-cluster.ts'

/** The folder of reports, unless a file is given. */
const reportFolder = 'coxswain-reports'

/** The context of a test in node:test (version 22 and later). */
export interface NodeTestContext {
  readonly name: string
  /** With the names of its suites. */
  readonly fullName?: string
  readonly passed?: boolean
  readonly error?: unknown
  after(done: () => Promise<void>): void
  diagnostic(text: string): void
}

/** A test or a suite in Vitest. */
interface VitestTask {
  readonly name: string
  readonly suite?: VitestTask | undefined
  readonly result?: { readonly errors?: readonly { readonly message?: string }[] } | undefined
}

/** The context of a test in Vitest. */
export interface VitestContext {
  readonly task: VitestTask
  onTestFailed(done: () => Promise<void>): void
}

/**
 * Writes the report when the test fails: `reportOnFailure(t, cluster)` in node:test, `reportOnFailure(context, cluster)`
 * in Vitest. The cluster may be stopped before the test ends.
 */
export function reportOnFailure(test: NodeTestContext | VitestContext, cluster: TestCluster, file?: string): void {
  const name = nameOf(test)
  const target = file ?? fileFor(name)
  const write = (failure: string | undefined) => outcomeOf(target, cluster.report(target, name, failure))
  cluster.recordBeforeStop(name)
  if ('onTestFailed' in test)
    return test.onTestFailed(async () => {
      const outcome = await write(test.task.result?.errors?.[0]?.message)
      // oxlint-disable-next-line no-console -- Vitest shows it with the name of the test; a test that has ended has no other output
      console.error(outcome)
    })
  test.after(async () => {
    if (test.passed !== false) return
    test.diagnostic(await write(test.error === undefined ? undefined : messageOf(test.error)))
  })
}

/** What became of a report. One that cannot be written must not hide why the test has failed. */
const outcomeOf = (file: string, writing: Promise<void>): Promise<string> =>
  writing.then(
    () => `the report of the cluster is in ${file}`,
    (error: unknown) => `the report of the cluster could not be written to ${file}: ${errorText(error)}`,
  )

/**
 * A test function with a cluster of its own, for any test framework: `test('name', withCluster({}, async (cluster) =>
 * …))`. When it fails, the report is written, and the message of the error names the file.
 */
export function withCluster(
  { report, ...options }: StartClusterOptions & { readonly report?: string },
  body: (cluster: TestCluster) => Promise<void> | void,
): (...context: unknown[]) => Promise<void> {
  // Without a declared parameter: Jest would pass a callback for it, and Vitest requires that it is destructured.
  return async function () {
    // oxlint-disable-next-line prefer-rest-params -- see above
    const context = contextOf(arguments[0])
    const name = context === undefined ? (currentJestTest() ?? 'failed') : nameOf(context)
    await using cluster = await startCluster(options)
    try {
      await body(cluster)
    } catch (error) {
      const file = report ?? fileFor(name)
      const outcome = await outcomeOf(file, cluster.report(file, name, messageOf(error)))
      if (error instanceof Error) error.message += `\n\n${outcome.replace(/^t/, 'T')}`
      // node:test prints the stack, which has the former message.
      if (context !== undefined && 'diagnostic' in context) context.diagnostic(outcome)
      throw error
    }
  }
}

/** The error of a test in node:test wraps the one that was thrown. */
function messageOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown }
  const thrown = cause instanceof Error ? cause : error
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** The name of a test with those of its suites, so that tests of different suites have different files. */
function nameOf(test: NodeTestContext | VitestContext): string {
  if (!('task' in test)) return test.fullName ?? test.name
  const names: string[] = []
  for (let task: VitestTask | undefined = test.task; task !== undefined; task = task.suite) names.unshift(task.name)
  return names.join(' > ')
}

/** The first argument of a test is its context in node:test and Vitest, and anything elsewhere. */
function contextOf(value: unknown): NodeTestContext | VitestContext | undefined {
  const { task, name, diagnostic } = Object(value) as {
    task?: { name?: unknown }
    name?: unknown
    diagnostic?: unknown
  }
  const isContext = typeof task?.name === 'string' || (typeof name === 'string' && typeof diagnostic === 'function')
  return isContext ? (value as NodeTestContext | VitestContext) : undefined
}

/** Jest provides the name of the test that is running with its global `expect`. */
function currentJestTest(): string | undefined {
  const { expect } = globalThis as { expect?: { getState?: () => { currentTestName?: string } } }
  return expect?.getState?.().currentTestName
}

export const fileFor = (name: string): string =>
  `${reportFolder}/${name.replaceAll(/[^\w.-]+/g, '-').slice(0, 100) || 'failed'}.html`
