// The real kubectl of this machine, in every version that the setup found or fetched.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
// @ts-expect-error -- plain JavaScript: it runs before the packages are there
import { findKubectls } from '../scripts/kubectl.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

export interface Kubectl {
  readonly version: string
  readonly path: string
}

/** Every kubectl, oldest first. Without one the run fails: nothing is skipped silently. */
export function kubectls(): readonly Kubectl[] {
  const found = (findKubectls as (root: string) => Kubectl[])(root)
  if (found.length === 0) throw new Error('there is no kubectl 1.27 or newer; run: npm run setup')
  return found
}

export interface Printed {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Commands wait for at most 200 s, so a longer one is hanging. */
/** The metrics of a server are several megabytes. */
const outputBytesMax = 64 << 20
const commandMsMax = 240_000

/**
 * The environment of kubectl. Its discovery cache is next to the kubeconfig: the default cache is keyed by the port and
 * valid for hours, and the next server on the port may serve other groups.
 */
export const kubectlEnvironment = (kubeconfig: string): NodeJS.ProcessEnv => ({
  ...process.env,
  KUBECONFIG: kubeconfig,
  KUBECACHEDIR: `${kubeconfig}.cache`,
})

export interface KubectlOptions {
  readonly input?: string
  readonly folder?: string
  readonly editor?: string
  readonly environment?: Readonly<Record<string, string>>
}

export const runKubectl = (
  { path }: Kubectl,
  kubeconfig: string,
  args: readonly string[],
  { input = '', folder = '.', editor = 'true', environment = {} }: KubectlOptions = {},
): Promise<Printed> =>
  new Promise((resolve) => {
    const env = { ...kubectlEnvironment(kubeconfig), ...environment, EDITOR: editor }
    const child = execFile(
      path,
      args,
      { env, cwd: folder, timeout: commandMsMax, maxBuffer: outputBytesMax },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    )
    child.stdin?.on('error', () => {}) // the command may not read its input
    child.stdin?.end(input)
  })
