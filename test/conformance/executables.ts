// The suite's executables: a folder that has them, or that has them compressed in a subfolder for each architecture.
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { architecture } from '../containers/busybox.ts'
import { unpack } from '../upstream-executables.ts'

const needed = ['e2e.test', 'ginkgo', 'agnhost'] as const

export const whereToGet = `The executables of the suite are not part of this project. --suite <folder> names a folder with e2e.test, ginkgo and
agnhost of Kubernetes v1.36; without it, $COXSWAIN_SUITE or ~/.cache/coxswain/suite is used (e2e.test and ginkgo are in its release archive kubernetes-test-linux-${architecture}.tar.gz,
agnhost is in its image registry.k8s.io/e2e-test-images/agnhost or built from test/images/agnhost), and optionally
sample-apiserver, resource-consumer, consume-cpu, nonewprivs, regression-issue-74839 and etcd. Specs whose executable
is missing fail.`

/** Returns the folder with the executables. Compressed ones are unpacked into `cache` once. */
export function findExecutables(suite: string, cache: string): string {
  const has = (folder: string) => needed.every((name) => existsSync(join(folder, name)))
  if (has(suite)) return suite
  const packed = join(suite, architecture)
  if (!existsSync(join(packed, `${needed[0]}.xz`))) throw new Error(`${suite} has no executables.\n${whereToGet}`)
  mkdirSync(cache, { recursive: true })
  for (const file of readdirSync(packed).filter((name) => name.endsWith('.xz')))
    unpack(join(packed, file), join(cache, file.slice(0, -'.xz'.length)))
  return cache
}
