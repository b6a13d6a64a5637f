// KernelSettings: the settings below /proc/sys.

export interface KernelSettings {
  /** `name` is a path such as `net/ipv4/ip_forward`. Returns false if there is no such setting. */
  set(name: string, value: string): Promise<boolean>
}
