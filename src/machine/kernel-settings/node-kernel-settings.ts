import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KernelSettings } from './kernel-settings.ts'

export const nodeKernelSettings = (directory = '/proc/sys'): KernelSettings => ({
  async set(name, value) {
    try {
      // Without `O_CREAT`: a setting exists or does not.
      await writeFile(join(directory, name), value, { flag: 'r+' })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
  },
})
