// Scenarios whose states differ from upstream's, each with the reason.
export const differences: readonly { readonly scenario: string; readonly why: string }[] = [
  {
    scenario: 'Recycle, a hostPath',
    why: 'upstream starts a pod that deletes all files; ours does not recycle volumes, and the volume is Failed',
  },
]
