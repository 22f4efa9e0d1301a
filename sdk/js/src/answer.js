// An output with the most likely next call.

export class Answer {
  constructor(output, next) {
    this.output = output;
    this.next = next;
  }
}

/** Returns an output with the most likely next call, `{ capability, input }`. */
export const answer = (output, { next = null } = {}) => new Answer(output, next);
