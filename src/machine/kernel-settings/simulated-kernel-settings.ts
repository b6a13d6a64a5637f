import type { KernelSettings } from './kernel-settings.ts'

/** Has the settings that the test names. */
export class SimulatedKernelSettings implements KernelSettings {
  readonly values: Map<string, string>

  constructor(values: Readonly<Record<string, string>> = {}) {
    this.values = new Map(Object.entries(values))
  }

  set(name: string, value: string): Promise<boolean> {
    const exists = this.values.has(name)
    if (exists) this.values.set(name, value)
    return Promise.resolve(exists)
  }
}
