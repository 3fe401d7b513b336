/** Where a command writes. Results go out; everything that is only for eyes goes to err. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Whether err is a terminal, so that a line may be drawn over. */
  readonly interactive: boolean;
  /** Columns of that terminal. */
  readonly columns: number;
}

const encoder = new TextEncoder();

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text);
  while (rest.length > 0) rest = rest.subarray(stream.writeSync(rest));
}

function columnsOf(interactive: boolean): number {
  if (!interactive) return 80;
  try {
    return Deno.consoleSize().columns;
  } catch {
    return 80; // a terminal on err does not mean that there is a size to ask for
  }
}

/** The process's own streams. */
export function processTerminal(): Terminal {
  const interactive = Deno.stderr.isTerminal();
  return {
    out: (text) => writeAll(Deno.stdout, text),
    err: (text) => writeAll(Deno.stderr, text),
    interactive,
    columns: columnsOf(interactive),
  };
}
