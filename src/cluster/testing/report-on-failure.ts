// Helpers that write the report of a cluster when a test fails, for node:test, Vitest, Jest and others.
import { startCluster, type StartClusterOptions } from './start-cluster.ts'
import type { TestCluster } from './test-cluster.ts'

/** The folder of reports, unless a file is given. */
const reportFolder = 'coxswain-reports'

/** The context of a test in node:test (version 22 and later). */
export interface NodeTestContext {
  readonly name: string
  readonly passed?: boolean
  after(done: () => Promise<void>): void
  diagnostic(text: string): void
}

/** The context of a test in Vitest. */
export interface VitestContext {
  readonly task: { readonly name: string }
  onTestFailed(done: () => Promise<void>): void
}

/**
 * Writes the report when the test fails: `reportOnFailure(t, cluster)` in node:test, `reportOnFailure(context, cluster)`
 * in Vitest. The cluster may be stopped before the test ends.
 */
export function reportOnFailure(test: NodeTestContext | VitestContext, cluster: TestCluster, file?: string): void {
  const name = 'task' in test ? test.task.name : test.name
  const target = file ?? fileFor(name)
  cluster.recordBeforeStop(name)
  const write = (): Promise<void> => cluster.report(target, name)
  if ('onTestFailed' in test) return test.onTestFailed(write)
  test.after(async () => {
    if (test.passed !== false) return
    await write()
    test.diagnostic(`the report of the cluster is in ${target}`)
  })
}

/**
 * A test function with a cluster of its own, for any test framework: `test('name', withCluster({}, async (cluster) =>
 * …))`. When it fails, the report is written, and the message of the error names the file.
 */
export function withCluster(
  { report, ...options }: StartClusterOptions & { readonly report?: string },
  body: (cluster: TestCluster) => Promise<void> | void,
): () => Promise<void> {
  return async () => {
    await using cluster = await startCluster(options)
    try {
      await body(cluster)
    } catch (error) {
      const file = report ?? fileFor(currentJestTest() ?? 'failed')
      await cluster.report(file, 'failed test', error instanceof Error ? error.message : String(error))
      if (error instanceof Error) error.message += `\n\nThe report of the cluster is in ${file}`
      throw error
    }
  }
}

/** Jest provides the name of the test that is running with its global `expect`. */
function currentJestTest(): string | undefined {
  const { expect } = globalThis as { expect?: { getState?: () => { currentTestName?: string } } }
  return expect?.getState?.().currentTestName
}

export const fileFor = (name: string): string =>
  `${reportFolder}/${name.replaceAll(/[^\w.-]+/g, '-').slice(0, 100) || 'failed'}.html`
