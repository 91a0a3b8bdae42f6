"""PyTorch's training steps as CUDA graphs: recorded once, then launched as a whole, so that no time goes into starting
kernels one by one. Several steps in one graph where an epoch has as many."""
import torch

from torch_training import Training


class GraphTraining(Training):
    """As Training on "cuda". After it is made, the network has its initial weights and the optimizer its first state."""

    most_steps_per_call = 16

    def __init__(self, workload, settings, data, weights, how=None, amp=None):
        # Adam's step count has to live on the card to be part of a graph.
        capturable = {"capturable": True} if settings["optimizer"] == "adam" else {}
        super().__init__(workload, settings, data, weights, "cuda", {**(how or {}), **capturable}, amp)
        self.steps_per_call = max(1, min(self.most_steps_per_call, len(self.inputs) // self.batch))
        self.chosen = torch.zeros(self.steps_per_call * self.batch, dtype=torch.int64, device=self.device)
        self.record()
        self.start_over(weights)

    def train_chosen(self):
        """All steps of a call; returns their losses."""
        losses = []
        for part in self.chosen.split(self.batch):
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.loss_of(self.inputs.index_select(0, part), self.targets.index_select(0, part))
            loss.backward()
            self.optimizer.step()
            losses.append(loss.detach())
        return losses

    def record(self):
        # Libraries initialise themselves and allocate in the first steps, which no graph may do: a side stream takes
        # these, as PyTorch's notes on CUDA graphs ask for.
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.train_chosen()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.optimizer.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.losses = self.train_chosen()

    def start_over(self, weights):
        """In place: the graph knows these tensors by their addresses. All states of SGD and Adam begin with 0."""
        with torch.no_grad():
            for parameter, values in zip(self.network.parameters(), weights):
                parameter.copy_(values)
            for state in self.optimizer.state.values():
                for value in state.values():
                    if torch.is_tensor(value):
                        value.zero_()
        torch.cuda.synchronize()

    def call(self, indices):
        self.chosen.copy_(indices)
        self.graph.replay()

    def losses_in_file_order(self, steps):
        per_call, losses = self.chosen.numel(), []
        whole = len(self.inputs) // self.batch * self.batch
        if whole != len(self.inputs) and steps * self.batch > whole:
            raise ValueError(f"{steps} steps reach the smaller last batch, which a graph cannot take")
        while len(losses) < steps:
            first = len(losses) * self.batch
            self.call(torch.arange(first, first + per_call, device=self.device) % whole)
            torch.cuda.synchronize()
            losses += [loss.item() for loss in self.losses]
        return losses[:steps]

    def step(self):
        self.call(self.next_examples(self.chosen.numel()))
