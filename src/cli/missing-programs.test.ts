import { deepEqual } from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { missingFolders } from './missing-programs.ts'

test('a person is told of the folders that the PATH lacks, and of the newest kubectl', async () => {
  const checkout = await mkdtemp(join(tmpdir(), 'coxswain-checkout-'))
  const [bin, kubectl] = [join(checkout, 'bin'), join(checkout, '.cache', 'kubectl')]
  for (const folder of [bin, join(kubectl, '1.9.0'), join(kubectl, '1.36.4')]) await mkdir(folder, { recursive: true })
  await writeFile(join(bin, 'coxswain'), '')
  const missing = (path: string) => missingFolders({ COXSWAIN_CHECKOUT: checkout, PATH: path })
  deepEqual(missing('/none'), [bin, join(kubectl, '1.36.4')])
  deepEqual(missing(`/none:${bin}`), [join(kubectl, '1.36.4')])
  deepEqual(missingFolders({ PATH: '/none' }), [], 'outside of a checkout the package manager takes care')
  await rm(checkout, { recursive: true })
})
